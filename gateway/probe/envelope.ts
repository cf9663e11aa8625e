/** The answer to one JSON-RPC request. */
export interface Reply {
  jsonrpc: '2.0';
  id: string | number;
  result?: unknown;
  error?: { code: number; message: string };
}

/** Whether a value is an id that JSON-RPC allows in a request of MCP. */
export function isIdentifier(id: unknown): id is string | number {
  return typeof id === 'string' || typeof id === 'number';
}

/** The answer to a request: a result, or an error. */
export function replyTo(id: string | number, said: { result: unknown } | { code: number; text: string }): Reply {
  if ('result' in said) return { jsonrpc: '2.0', id, result: said.result };
  return { jsonrpc: '2.0', id, error: { code: said.code, message: said.text } };
}

/** The messages of a text: one, or a batch. Undefined when it is not JSON. */
export function messagesIn(text: string): unknown[] | undefined {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    return undefined;
  }
}

/** What cannot be read is answered, since its id is not known, with null. */
export const UNREADABLE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32700, message: 'This is not JSON.' },
})}\n`;

import type { UpstreamAnswer } from '../../ports/upstream.js';
import { parseJson } from '../../wire/json/parse.js';
import { PEEK_BYTES, peek } from './peek.js';

/** `}`, `]` and blanks. */
const LAST = new Set([0x7d, 0x5d, 0x20, 0x09, 0x0a, 0x0d]);

/** The bytes of a JSON text, which may be preceded by a byte order mark. */
const TEXT = new TextDecoder();

/**
 * Whether the JSON of a refusal is a message of MCP. Web frameworks refuse a method or a path with JSON of their own:
 * `{"detail":"Method Not Allowed"}`. One too long to be looked at counts as MCP's.
 * @param ms `timeouts.upstream`
 * @throws GatewayError `upstream_timeout`, `upstream_closed`, or the body's own failure
 */
export async function isMcpRefusal({ whole, body }: UpstreamAnswer, server: string, ms: number): Promise<boolean> {
  if (whole) return whole.length > PEEK_BYTES || isMessage(whole) === true;
  const read = await peek(body, { server, ms }, (chunk, all) => {
    const mayBeWhole = all.size <= PEEK_BYTES && LAST.has(chunk.at(-1) ?? 0);
    return mayBeWhole ? (isMessage(all.whole()) ?? 'more') : 'more';
  });
  return read === 'more' || read === true;
}

/** Undefined while it is not the whole of a JSON text. */
function isMessage(bytes: Buffer): boolean | undefined {
  try {
    const value = parseJson(TEXT.decode(bytes));
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === 'object' && first !== null && Object.hasOwn(first, 'jsonrpc');
  } catch {
    return undefined;
  }
}

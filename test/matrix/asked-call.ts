import { messagesIn, type RawClient, type RawMessage } from '../helpers/raw-client.js';
import type { Answer } from './clients.js';

type Json = Record<string, unknown>;

/** Calls a tool, and answers what is asked before its result: on the stream of the call, or by calling again. */
export async function askedCall(client: RawClient, tool: string, args: Json, answer: Answer): Promise<RawMessage> {
  let more: Json = {};
  // a file is asked for once, and a page may need some rounds
  for (let round = 0; round < 20; round++) {
    const response = await client.open('tools/call', { name: tool, arguments: args, ...more });
    const { result, error } = await answered(client, response, answer);
    if (result?.resultType !== 'input_required') return { ...(result && { result }), ...(error && { error }) };
    const { inputRequests = {}, requestState } = result as { inputRequests?: Record<string, { params: Json }> } & Json;
    const inputResponses: Json = {};
    for (const [key, { params }] of Object.entries(inputRequests)) inputResponses[key] = await answer(params);
    more = { inputResponses, requestState };
  }
  throw new Error('it is asked without end');
}

/** Reads the answer to a call while it comes, and answers the questions in it. */
async function answered(client: RawClient, response: Response, answer: Answer): Promise<RawMessage> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.includes('text/event-stream')) return messagesIn(await response.text(), type)[0] ?? {};
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf('\n\n') + 2;
    if (end < 2) continue;
    const messages = messagesIn(text.slice(0, end), type);
    text = text.slice(end);
    for (const { id, method, params = {}, ...message } of messages) {
      if (method === undefined) return message;
      if (method === 'elicitation/create') await client.post({ jsonrpc: '2.0', id, result: await answer(params) });
    }
  }
  throw new Error('its answer broke off');
}

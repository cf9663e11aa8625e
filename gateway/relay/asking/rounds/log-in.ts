import type { GatewayError } from '../../../errors.js';
import { isObject } from '../../../json/value.js';
import { eraOf } from '../../../mcp/era.js';
import type { ClientMessages, ReadingLimits } from '../../../mcp/request.js';
import type { Asked } from '../../caller.js';
import { type LocalAnswer, onlyRequest } from '../../client/local-answer.js';
import { withParams } from '../lacking.js';
import { opensPages } from '../means.js';
import { INPUT_REQUIRED } from './wants-input.js';

/** The key of Wharf's question; no server's keys begin so. */
const KEY = 'wharf-login';

/** MCP 2025-11-25, elicitation: a request needs the person to visit a page first. */
const URL_ELICITATION_REQUIRED = -32042;

/** Requests that may be answered with a question (MCP 2026-07-28). */
const MAY_ASK = new Set(['tools/call', 'prompts/get', 'resources/read']);

/**
 * The answer to a request for which its person must log in at the server first, in the client's own way: a question, an
 * error that names the page, or a text with the link. Undefined for any other error.
 */
export function loginAnswer(error: GatewayError, { messages, client }: Asked): LocalAnswer | undefined {
  if (error.code !== 'upstream_login_needed') return undefined;
  const request = onlyRequest(messages);
  if (!request) return undefined;
  const { url, id, server } = error.facts;
  const message = `Log in at the server "${server}", so that it can be used in your name.`;
  if (opensPages(client)) {
    const { elicitsBy } = eraOf(client.protocolVersion);
    if (elicitsBy === 'result' && MAY_ASK.has(request.method)) {
      const question = { method: 'elicitation/create', params: { mode: 'url', url: String(url), message } };
      return { result: { resultType: INPUT_REQUIRED, inputRequests: { [KEY]: question } } };
    }
    if (elicitsBy === 'request') {
      const elicitations = [{ mode: 'url', elicitationId: String(id), url: String(url), message }];
      return { error: { code: URL_ELICITATION_REQUIRED, message: error.message, data: { elicitations } } };
    }
  }
  if (request.method !== 'tools/call') return { error: error.toJsonRpc() };
  return { result: { content: [{ type: 'text', text: error.message }], isError: true } };
}

/**
 * The messages without the answer to such a question, which the server has not asked. A promise only where there is one:
 * every message comes by here.
 */
export function withoutLogin(
  messages: ClientMessages,
  limits: ReadingLimits,
): ClientMessages | Promise<ClientMessages> {
  const responses = messages.requests.length === 1 ? messages.requests[0]?.params.inputResponses : undefined;
  if (!isObject(responses) || !Object.hasOwn(responses, KEY)) return messages;
  const { [KEY]: _, ...others } = responses;
  const value = Object.keys(others).length === 0 ? undefined : others;
  return withParams(messages, [{ path: ['inputResponses'], value }], limits);
}

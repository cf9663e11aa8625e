import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import { isObject } from '../../json/value.js';
import { metaOf, parseMessages } from '../../mcp/request.js';
import type { JsonObject } from '../../ports/json.js';
import { parseJson } from '../../wire/json/parse.js';
import { weigh } from '../../wire/json/weigh.js';
import type { Asked } from '../caller.js';
import { CollectedReply } from '../client/collected-reply.js';
import { causeOf, noFacts, noteMessages } from '../exchange.js';
import type { ResultDeps } from '../results/deps.js';
import { resultAsFile } from '../results/resource-file.js';
import { brief } from '../upstream/transfer-rules.js';

/** How the request is sent: as the client's own would be. */
interface ReadingHost {
  forward(asked: Asked): Promise<void>;
  /** All messages share its channel. */
  isShared: boolean;
}

/** Codes with which a server says no more than that it does not have the resource, or any. */
const ABSENT: ReadonlySet<unknown> = new Set([-32002, -32601]);

/**
 * Makes a file of one of the server's resources, read in the client's own session, so only of what the client may read
 * itself. It is read as the client would read it: what is long goes to the store as it arrives, and a file that the
 * server itself gives as a link is fetched.
 * @param asked the only request of its POST, which the client gets another answer to
 * @returns undefined when the server does not have the resource
 * @throws GatewayError why it could not be read
 */
export async function readAsFile(
  uri: string,
  asked: Asked,
  { forward, isShared }: ReadingHost,
  deps: ResultDeps,
): Promise<FileRecord | undefined> {
  const { exchange } = asked;
  const { principal, signal, reply: instead } = exchange;
  const { cut, server } = deps;
  const messages = readingOf(uri, asked);
  const facts = { ...noFacts(), client: exchange.facts.client };
  noteMessages(facts, messages);
  // a stream may stay open after the answer, as long as its server likes
  const over = new AbortController();
  // not now: the writer of the answer has not finished
  const enough = () => void setImmediate(() => over.abort(new GatewayError('internal', {}, 'the answer is there')));
  const id = messages.requests[0]?.id ?? '';
  const owner = { principal, server };
  const reply = new CollectedReply({ id, held: cut.held, owner, enough, ...(isShared && { instead }) });
  const own = {
    ...exchange,
    headers: { ...exchange.headers, accept: isShared ? 'application/json' : 'application/json, text/event-stream' },
    signal: AbortSignal.any([signal, over.signal]),
    reply,
    facts,
  };
  // what its host shows of results has nothing to do with it
  const { host: _, ...client } = asked.client;
  try {
    await forward({ ...asked, client, messages, exchange: own }).catch((error: unknown) => {
      if (signal.aborted || !reply.answer) throw error;
    });
    signal.throwIfAborted();
    if (reply.failure) throw reply.failure;
    const { content, files, fileBytes, thrown } = facts;
    exchange.facts.files += files;
    exchange.facts.fileBytes += fileBytes;
    if (content) return content;
    // the server has nothing to do with what Wharf's own parts refuse
    if (thrown) throw thrown;
    const result = resultIn(reply, deps);
    const { ingest, library } = cut;
    const reader = { principal, by: causeOf(exchange), signal };
    return result && (await resultAsFile(result, reader, { ingest, library, server, limits: deps.limits }, { uri }));
  } finally {
    reply.release();
  }
}

/** The POST with which the client itself would read the resource. */
function readingOf(uri: string, { messages }: Asked) {
  const [request] = messages.requests;
  const _meta = metaOf(request?.params ?? {});
  const params = { uri, ...(Object.keys(_meta).length > 0 && { _meta }) };
  const text = JSON.stringify({ jsonrpc: '2.0', method: 'resources/read', params });
  // the client's own spelling of its id: what it cancels later is this request
  const bytes = Buffer.from(`{"id":${request?.id ?? 'null'},${text.slice(1)}`);
  return { ...parseMessages(bytes), era: messages.era };
}

/**
 * @returns undefined where the server does not have it
 * @throws GatewayError also for its own error, which need not mean that
 */
function resultIn({ answer, headGiven }: CollectedReply, { server, limits }: ResultDeps): JsonObject | undefined {
  if (!answer) {
    const status = headGiven?.status ?? 200;
    if (status === 404) return undefined;
    if (status >= 300) throw new GatewayError('upstream_refused', { server, status });
    throw new GatewayError('upstream_closed', { server });
  }
  // its depth has been judged on its way
  if (weigh(answer, { depth: Number.POSITIVE_INFINITY, values: limits.values }) !== 'light') {
    const reason = `its answer has more than limits.values = ${limits.values} values`;
    throw new GatewayError('upstream_invalid', { reason });
  }
  const { result, error } = parseJson(answer.toString('utf8')) as JsonObject;
  if (isObject(result)) return result;
  if (!isObject(error) || ABSENT.has(error.code)) return undefined;
  const told = brief(typeof error.message === 'string' ? error.message : '');
  const text = `the server "${server}" did not give this file: ${told}`;
  throw new GatewayError('params_invalid', { reason: 'fileNotFound', text });
}

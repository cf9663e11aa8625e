import { isObject } from '../../../json/value.js';
import type { ClientFacts } from '../../../ports/client.js';
import type { OtherFields, ServerFile, ServerQuestion } from '../../../ports/file-question.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';
import type { AskingDeps } from '../deps.js';
import { underAskingTool } from '../for-server/asking-tool.js';
import { formForOthers, withOthers } from '../for-server/other-fields.js';
import { takenUp } from '../for-server/put-off-question.js';
import { type FoundQuestion, readQuestion } from '../for-server/read-question.js';
import { uploadForServer, wayForServer } from '../for-server/wanted-file.js';
import { showsForms, type Way } from '../means.js';
import type { PutOffFor } from '../put-off.js';
import { askedUpload, type TakenFile, type TakenQuestion } from '../sealed-state.js';
import { serverQuestionText } from '../texts.js';

const ELICIT = 'elicitation/create';

const NOTHING: OtherFields = { properties: {}, required: [] };

/** For whom, and in which call, a server asks. */
export interface Asker {
  client: ClientFacts;
  principal: string;
  call: PutOffFor['call'];
  /** The tool that the call is of, or that its task runs. */
  tool: () => Promise<string | undefined>;
  /** Makes the keys of Wharf's own questions. */
  nextKey: () => string;
}

/** What a server wants before it answers, apart: its questions for files, and all others as they came. */
export async function takeQuestions(
  requests: JsonObject,
  asker: Asker,
  given: AskingDeps,
): Promise<{ taken: TakenQuestion[]; others: [string, JsonValue][] }> {
  const deps = await underAskingTool(asker.call, { principal: asker.principal, server: given.server }, given);
  const taken: TakenQuestion[] = [];
  const others: [string, JsonValue][] = [];
  let room = deps.limits.files;
  for (const [key, request] of Object.entries(requests)) {
    const params = isObject(request) && request.method === ELICIT && isObject(request.params) && request.params;
    const found = params ? readQuestion(params, asker.client, deps) : undefined;
    if (!found) {
      others.push([key, request]);
      continue;
    }
    const one = await take(key, found, asker, { ...deps, limits: { ...deps.limits, files: room } });
    taken.push(one);
    room -= one.files.length;
  }
  return { taken, others };
}

async function take(
  key: string,
  { dialect, question }: FoundQuestion,
  asker: Asker,
  deps: AskingDeps,
): Promise<TakenQuestion> {
  const { log, fewLines, server, limits } = deps;
  const none = { key, dialect: dialect.name, message: '', files: [], besides: NOTHING, ended: 'cancel' as const };
  if ('problem' in question) {
    // one result may hold thousands of them
    const leftOut = fewLines.take(`bad question ${server}`);
    if (leftOut) log.warn({ problem: question.problem, ...leftOut }, "a server's question for a file was refused");
    return none;
  }
  const { message, besides } = question;
  const ways = waysFor(question, asker.client, deps);
  if (!ways || question.files.length > limits.files) {
    const leftOut = fewLines.take(`question without a way ${server}`);
    if (leftOut)
      log.info(
        { files: question.files.length, ...leftOut },
        'a server asked for files in a way that its client cannot be asked',
      );
    return none;
  }
  const files: TakenFile[] = [];
  for (const [wanted, way] of ways) files.push(await authorized({ wanted, way, message, asker }, deps));
  const first = files.find(({ form }) => form);
  if (first) first.keepsBesides = true;
  const isAlone = !first && Object.keys(besides.properties).length > 0 && showsForms(asker.client);
  return { key, dialect: dialect.name, message, files, besides, ...(isAlone && { othersKey: asker.nextKey() }) };
}

/** Undefined where the client cannot be asked for all that is needed. */
function waysFor(
  { files, besides }: ServerQuestion,
  client: ClientFacts,
  deps: AskingDeps,
): [ServerFile, Way][] | undefined {
  const ways: [ServerFile, Way][] = [];
  for (const wanted of files) {
    const way = wayForServer(wanted, client, deps);
    if (!way) return undefined;
    ways.push([wanted, way]);
  }
  // a page takes files only
  const hasForm = showsForms(client) || ways.some(([, { form }]) => form);
  return besides.required.length > 0 && !hasForm ? undefined : ways;
}

async function authorized(
  { wanted, way, message, asker }: { wanted: ServerFile; way: Way; message: string; asker: Asker },
  deps: AskingDeps,
): Promise<TakenFile> {
  const { uploadLinks, log, metrics, server } = deps;
  const { principal, call } = asker;
  const tool = await asker.tool();
  const about = { principal, server, call, message, field: wanted.name };
  const before = way.form ? undefined : await takenUp(about, deps);
  const upload = uploadForServer({ wanted, message, tool, principal }, way, deps);
  const offered = before?.offered ?? (await uploadLinks.authorize(upload));
  metrics.count('wharf_questions_total', { outcome: 'asked' });
  log.info({ principal, tool, argument: wanted.name, means: way.means }, 'a server asked for a file');
  return {
    wanted,
    ...askedUpload(offered, way, { key: asker.nextKey(), field: wanted.name }),
    ...(before?.records && { isThere: true }),
    ...(way.form && !wanted.isRequired && { isOptional: true }),
  };
}

/**
 * What the client is asked for a server's question, by the keys of Wharf's own questions.
 * @param missing the files that are not there yet
 * @returns undefined where the client has declared less than before
 */
export function askedFor(
  { message, besides, filled, othersKey }: TakenQuestion,
  missing: readonly TakenFile[],
  client: ClientFacts,
  deps: AskingDeps,
): [string, JsonObject][] | undefined {
  const { server } = deps;
  const asked: [string, JsonObject][] = [];
  for (const { wanted, key, means, url, code, fileId, form, problem, keepsBesides, isOptional } of missing) {
    const way = wayForServer(wanted, client, { ...deps, order: [means] });
    if (!way) return undefined;
    const text = serverQuestionText({ message, server, means, wanted }, { problem, code });
    const params = way.params(text, { url, id: form?.uploadId ?? fileId });
    const fields = keepsBesides && !filled ? besides : NOTHING;
    asked.push([key, form ? withOthers(params, fields, isOptional ? [] : [wanted.name]) : params]);
  }
  if (othersKey !== undefined && !filled) asked.push([othersKey, formForOthers(message, besides, server)]);
  return asked.map(([key, params]) => [key, { method: ELICIT, params }]);
}

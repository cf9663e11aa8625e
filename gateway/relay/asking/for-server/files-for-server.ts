import type { FileRecord } from '../../../files/file.js';
import type { Authorization } from '../../../files/uploads/upload-links.js';
import { eraOf } from '../../../mcp/era.js';
import type { AboutTask } from '../../../mcp/meta-keys.js';
import type { Dialect } from '../../../ports/dialect.js';
import type { OtherFields, ServerFile, ServerQuestion } from '../../../ports/file-question.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';
import { answerText } from '../../client/local-answer.js';
import { causeOf } from '../../exchange.js';
import { askUntilGiven } from '../ask-until-given.js';
import type { AskedStream } from '../course.js';
import type { AskingDeps } from '../deps.js';
import { showsForms, type Way } from '../means.js';
import { askOnStream, type StreamOutcome, type WaitingCall } from '../on-stream.js';
import type { OpenQuestion } from '../open-questions.js';
import { ServerProgress } from '../progress.js';
import type { PutOffFor } from '../put-off.js';
import { nameOfCall } from '../questions.js';
import { type Besides, serverQuestionText } from '../texts.js';
import { askingTool, underAskingTool } from './asking-tool.js';
import { handOver } from './hand-over.js';
import { formForOthers, withOthers } from './other-fields.js';
import { putOffAnswer, takenUp } from './put-off-question.js';
import { canAskFor } from './read-question.js';
import { uploadForServer, wayForServer } from './wanted-file.js';

/** Files that the person has given for one field. */
interface Given {
  wanted: ServerFile;
  records: readonly [FileRecord, ...FileRecord[]];
}

/** What an answer without files says. */
type Ended = { action: 'decline' | 'cancel' };

const NOTHING: OtherFields = { properties: {}, required: [] };

/** Gets the files for which a server asks: from the person to Wharf's store, and from there to the server. */
export class FilesForServer {
  readonly #stream: AskedStream;
  readonly #open: OpenQuestion;
  /** Aborted when nothing is to be asked any longer. */
  readonly #signal: AbortSignal;
  readonly #task: AboutTask;
  #deps: AskingDeps;
  readonly #offers: { about: PutOffFor; offered: Authorization }[] = [];

  /** @param question with `isBound`, it ends when the client has gone; `task`: what it is about, if that is a task */
  constructor(
    stream: AskedStream,
    { open, isBound, task }: { open: OpenQuestion; isBound: boolean; task: AboutTask },
    deps: AskingDeps,
  ) {
    const { cancelled, left } = stream;
    this.#stream = stream;
    this.#open = open;
    this.#signal = AbortSignal.any([cancelled, open.ended.signal, ...(isBound ? [left] : [])]);
    this.#task = task;
    this.#deps = deps;
  }

  /** Whether there is a stream to ask on, and a way to ask for each of the files. */
  #canAsk(question: ServerQuestion): boolean {
    return this.#stream.reply.canAsk && canAskFor(question, this.#stream.caller.client, this.#deps);
  }

  /**
   * The result of the server's question: `accept` only when the server has every file.
   * @param notify tells the server how far its files are
   */
  async answer(
    question: ServerQuestion,
    { asks }: Dialect,
    notify: (params: JsonObject) => Promise<void>,
  ): Promise<JsonObject> {
    const { exchange } = this.#stream.caller;
    const { principal, identity } = exchange;
    this.#deps = await underAskingTool(this.#stream.request, { principal, server: this.#deps.server }, this.#deps);
    if (!asks || !this.#canAsk(question)) return { action: 'cancel' };
    const gathered = await this.#gather(question);
    if ('action' in gathered) return gathered;
    this.#stream.reply.instead = undefined;
    const content: [string, JsonValue][] = Object.entries(gathered.besides);
    const progress = new ServerProgress(
      gathered.given.reduce((sum, { records }) => sum + sizeOf(records), 0),
      notify,
    );
    const { inquire } = this.#stream.caller;
    const hold = (bytes: number) => this.#open.hold(bytes);
    const by = causeOf(exchange);
    const context = { deps: this.#deps, principal, identity, by, inquire, signal: this.#signal, hold };
    let before = 0;
    for (const { wanted, records } of gathered.given) {
      const done = before;
      const sent = (bytes: number, name: string) => progress.tell(done + bytes, name);
      content.push([wanted.name, await handOver({ wanted, records, sent }, asks, context)]);
      before += sizeOf(records);
      this.#deps.metrics.count('wharf_questions_total', { outcome: 'delivered' });
    }
    await progress.end();
    return { action: 'accept', content: Object.fromEntries(content) };
  }

  /** Everything that the person gives, before anything of it goes to the server. */
  async #gather({ message, files, besides }: ServerQuestion): Promise<Ended | { given: Given[]; besides: JsonObject }> {
    const given: Given[] = [];
    let filled: JsonObject | undefined;
    for (const wanted of files) {
      const way = wayForServer(wanted, this.#stream.caller.client, this.#deps);
      if (!way) return { action: 'cancel' };
      const fields = filled || !way.form ? NOTHING : besides;
      const outcome = await this.#ask(wanted, way, message, fields);
      if (outcome.waited !== 'stored') return { action: outcome.waited === 'declined' ? 'decline' : 'cancel' };
      if (way.form) filled = { ...outcome.besides, ...filled };
      const [first, ...others] = outcome.records;
      if (first) given.push({ wanted, records: [first, ...others] });
    }
    const isDue = !filled && Object.keys(besides.properties).length > 0;
    if (!isDue) return { given, besides: filled ?? {} };
    // a page takes files only
    if (showsForms(this.#stream.caller.client)) {
      const outcome = await this.#askForOthers(message, besides, given[0]?.records[0].id ?? '');
      if (outcome.waited !== 'stored') return { action: outcome.waited === 'declined' ? 'decline' : 'cancel' };
      return { given, besides: outcome.besides ?? {} };
    }
    return besides.required.length > 0 ? { action: 'cancel' } : { given, besides: {} };
  }

  async #ask(
    wanted: ServerFile,
    way: Way,
    message: string,
    besides: OtherFields,
  ): Promise<StreamOutcome & { records: readonly FileRecord[] }> {
    const { server, uploadLinks, log, metrics } = this.#deps;
    const { request } = this.#stream;
    const { principal } = this.#stream.caller.exchange;
    const { name, isRequired } = wanted;
    const isOptional = !isRequired && way.form !== undefined;
    const about = request && { principal, server, call: request, message, field: name };
    const tool = await askingTool(request, { principal, server }, this.#deps);
    const before = way.form || !about ? undefined : await takenUp(about, this.#deps);
    const asked = { wanted, message, tool, principal };
    const offered = before?.offered ?? (await uploadLinks.authorize(uploadForServer(asked, way, this.#deps)));
    if (about) this.#offers.push({ about, offered });
    if (before?.records) return { waited: 'stored', records: before.records };
    const file = {
      field: name,
      way,
      offered,
      message: (told: Besides) => serverQuestionText({ message, server, means: way.means, wanted }, told),
      isOptional,
      ...(way.form && { widen: (params: JsonObject) => withOthers(params, besides, isOptional ? [] : [name]) }),
    };
    const outcome = await askUntilGiven(file, this.#waiting, this.#deps);
    const { waited } = outcome;
    metrics.count('wharf_questions_total', { outcome: waited });
    log.info({ principal, tool, argument: name, means: way.means, outcome: waited }, 'a server asked for a file');
    const records = (waited === 'stored' ? await uploadLinks.given(offered.id) : undefined) ?? [];
    if (waited === 'unopened') await this.#putOff(message, offered);
    else if (waited !== 'stored') await uploadLinks.revoke(offered.ticket);
    return { ...outcome, records };
  }

  /** The page was not opened: the call is answered with the link, and the same call can use what comes to it. */
  async #putOff(message: string, offered: Authorization): Promise<void> {
    const { uploadLinks, putOff } = this.#deps;
    const { request, reply, caller } = this.#stream;
    // only a call can be made again
    if (!request) return uploadLinks.revoke(offered.ticket);
    for (const offer of this.#offers) await putOff.keep(offer.about, offer.offered);
    const answer = putOffAnswer(request, message, offered, this.#deps);
    reply.instead = answerText(request, answer, eraOf(caller.client.protocolVersion));
  }

  /** A form without files, filled beside a page. @param fileId of a file that is there: nothing else is waited for */
  #askForOthers(message: string, besides: OtherFields, fileId: string): Promise<StreamOutcome> {
    const { server, clock, timeouts } = this.#deps;
    const params = formForOthers(message, besides, server);
    // a form of no dialect: all of it is kept, and no file is looked for in it
    const form = { dialect: '', field: '', uploadId: '' };
    const asked = { ticket: '', fileId, form, keepsBesides: true };
    const until = clock.now() + timeouts.elicitation;
    return askOnStream({ params, asked, until }, this.#waiting, this.#deps);
  }

  get #waiting(): WaitingCall {
    const { caller, request, reply } = this.#stream;
    const { principal } = caller.exchange;
    const { server } = this.#deps;
    const session = caller.session?.id;
    const call = request && nameOfCall({ principal, server }, session, request.id);
    return { principal, call, session, params: request?.params ?? {}, reply, task: this.#task, signal: this.#signal };
  }
}

function sizeOf(records: readonly FileRecord[]): number {
  return records.reduce((sum, { size }) => sum + size, 0);
}

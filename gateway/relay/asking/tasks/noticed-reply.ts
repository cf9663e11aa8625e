import { JsonDocument } from '../../../json/document.js';
import { Edits } from '../../../json/edit.js';
import type { Piece } from '../../../json/written.js';
import type { Limits } from '../../../policy/limits.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue } from '../../../ports/json.js';
import { parseJson } from '../../../wire/json/parse.js';
import { PassedReply } from '../../passed-reply.js';
import type { MessageFacts, Reply } from '../../reply.js';
import { INPUT_REQUESTS, mayBeTask, readQuestions, refuseTwice } from './task-text.js';

const NOTIFICATION = 'notifications/tasks';

const METHOD: JsonPath = ['method'];
const TASK_ID: JsonPath = ['params', 'taskId'];
const REQUESTS: JsonPath = ['params', INPUT_REQUESTS];

/** Bytes of a task's id, as JSON text, that may be read. */
const MOST_ID = 4096;

/** What a server says about a task without being asked. */
interface TaskNotice {
  taskId: string;
  requests: JsonObject;
}

interface NoticedOptions {
  limits: Pick<Limits, 'depth' | 'values'>;
  /** The changes of a task whose questions its client is asked in other words; undefined for any other. */
  changes: (notice: TaskNotice) => Promise<JsonPatch[] | undefined>;
  /** A notification was left out: its client can still ask for the task. */
  leftOut: (error: unknown) => void;
}

/** The stream on which a client hears about its tasks (`subscriptions/listen`), without the servers' own questions for files. */
export class NoticedReply extends PassedReply {
  readonly #options: NoticedOptions;

  constructor(reply: Reply, options: NoticedOptions) {
    super(reply);
    this.#options = options;
  }

  /** A body would pass without being looked at. */
  override get takesBodies(): boolean {
    return false;
  }

  override message(pieces: readonly Piece[], facts: MessageFacts = {}): Promise<void> | undefined {
    // a task that wants input has no files yet, whose bytes would be put back here
    if (!pieces.every((piece) => Buffer.isBuffer(piece))) return this.reply.message(pieces, facts);
    const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    return mayBeTask(bytes) ? this.#show(bytes, facts) : this.reply.message(pieces, facts);
  }

  async #show(bytes: Buffer, facts: MessageFacts): Promise<void> {
    let shown: Buffer;
    try {
      shown = await this.#shown(bytes);
    } catch (error) {
      this.#options.leftOut(error);
      if (facts.frame?.id) await this.reply.event(facts.frame);
      return;
    }
    await this.reply.message([shown], facts);
  }

  async #shown(bytes: Buffer): Promise<Buffer> {
    const { limits, changes } = this.#options;
    const document = JsonDocument.of(bytes);
    await document.findInSteps([METHOD, TASK_ID, REQUESTS]);
    const range = document.at(REQUESTS);
    if (!range || textAt(document, METHOD) !== NOTIFICATION) return bytes;
    refuseTwice(document.duplicates);
    const taskId = textAt(document, TASK_ID);
    const requests = readQuestions(document.slice(range.start, range.end), limits);
    if (taskId === undefined || !requests) return bytes;
    const patches = await changes({ taskId, requests });
    return patches ? patched(bytes, patches) : bytes;
  }
}

function textAt(document: JsonDocument, path: JsonPath): string | undefined {
  const range = document.at(path);
  if (!range || range.end - range.start > MOST_ID) return undefined;
  const value = parseJson(document.slice(range.start, range.end).toString('utf8')) as JsonValue;
  return typeof value === 'string' ? value : undefined;
}

async function patched(bytes: Buffer, patches: readonly JsonPatch[]): Promise<Buffer> {
  const document = JsonDocument.of(bytes);
  const edits = new Edits(document);
  for (const { path, value } of patches) {
    if (value === undefined) edits.remove(['params', ...path]);
    else edits.set(['params', ...path], value);
  }
  await document.findInSteps(edits.paths());
  refuseTwice(document.duplicates);
  return Buffer.concat(edits.applied().pieces as readonly Buffer[]);
}

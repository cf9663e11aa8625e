import { randomBytes } from 'node:crypto';
import { HeldTogether } from '../../../budget/held.js';
import { GatewayError } from '../../../errors.js';
import { metaOf, parseMessages } from '../../../mcp/request.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';
import type { Asked } from '../../caller.js';
import { causeOf, noFacts } from '../../exchange.js';
import type { Course } from '../course.js';
import type { AskingDeps } from '../deps.js';
import { underAskingTool } from '../for-server/asking-tool.js';
import { noPlaceIn } from '../open-questions.js';
import { answerTo, type HeardQuestion, hearQuestion, isComplete } from '../rounds/answer-questions.js';
import { type Asker, askedFor, takeQuestions } from '../rounds/take-questions.js';
import { OWN_KEY, type TakenFile, type TakenQuestion } from '../sealed-state.js';
import { waitingText } from '../texts.js';
import { waitForFile } from '../wait.js';
import type { Task, TaskQuestion } from './task-questions.js';
import type { ShownTask } from './task-text.js';

/** 96 random bits: no two questions of a task have one key, however often they are asked. */
const KEY_BYTES = 12;

/** A client's request about a task. */
interface About {
  asked: Asked;
  course: Course;
  taskId: string;
}

/** What has become of a task's questions. */
interface Settled {
  questions: readonly TaskQuestion[];
  /** Those that need something yet. */
  open: readonly HeardQuestion[];
}

/** What a request about a task says about its questions. */
interface Told {
  /** What the server asks now. */
  requests?: JsonObject;
  /** Questions that the client has answered, by the server's keys. */
  heard?: ReadonlyMap<string, TaskQuestion>;
}

/**
 * Asks the client of a task for the files that its server wants, and brings them to the server. Several
 * requests and replicas may find an answer complete: one of them brings it, by a request of Wharf's own, and no request of the
 * client waits for that.
 */
export class TaskAsker {
  readonly #deps: AskingDeps;
  /** Tasks whose uploads are waited for here: counted by `limits.questions`. */
  readonly #followed = new Set<string>();

  constructor(deps: AskingDeps) {
    this.#deps = deps;
  }

  /** What the client sees of what a task asks; undefined where it can see all of it as it came. */
  async show(requests: JsonObject, about: About): Promise<ShownTask | undefined> {
    const { questions, open } = await this.#settle(about, { requests });
    if (questions.length === 0) return undefined;
    const deps = await this.#underTool(about);
    const taken = new Set(questions.map(({ key }) => key));
    const others = Object.entries(requests).filter(([key]) => !taken.has(key));
    const own = open.flatMap(({ question, missing }) => {
      const due = missing.filter(({ isAwaited }) => !isAwaited);
      return askedFor(question, due, about.asked.client, deps) ?? [];
    });
    const [awaited] = awaitedIn(open);
    return {
      requests: Object.fromEntries([...others, ...own]),
      waitsFor: awaited && waitingText(awaited.url, awaited.code),
    };
  }

  /**
   * Hears what the client answers. @param answers by the keys of Wharf's own questions
   * @returns whether any of them is to a question that is known
   */
  async hear(answers: JsonObject, about: About): Promise<boolean> {
    const { taskQuestions, clock } = this.#deps;
    const { principal, signal } = about.asked.exchange;
    const heard = new Map<string, TaskQuestion>();
    let isKnown = false;
    for (const question of await taskQuestions.read(this.#taskOf(about))) {
      if (!keysOf(question).some((key) => Object.hasOwn(answers, key))) continue;
      isKnown = true;
      // one whose link has ended is asked anew
      if (!isOpen(question, clock.now()) || isOver(question, clock.now())) continue;
      const one = await hearQuestion(question, answers, { principal, signal }, this.#deps);
      heard.set(question.key, withNewKeys(one.question, answers));
    }
    if (heard.size > 0) {
      const lasting = this.#outlasting(about);
      const awaited = awaitedIn((await this.#settle(lasting, { heard })).open);
      if (awaited.length > 0) void this.#follow(lasting, awaited);
    }
    return isKnown;
  }

  /** The task is over: nothing is asked any longer. */
  async forget(taskId: string, asked: Asked): Promise<void> {
    const { taskQuestions, server } = this.#deps;
    const questions = await taskQuestions.take({ principal: asked.exchange.principal, server, taskId });
    await this.#revoke(questions, []);
  }

  /** Under the limits of the tool that the task runs. */
  #underTool(about: About): Promise<AskingDeps> {
    const { principal, server, taskId: subject } = this.#taskOf(about);
    return underAskingTool({ method: 'tasks/get', subject }, { principal, server }, this.#deps);
  }

  #taskOf({ asked, taskId }: About): Task {
    return { principal: asked.exchange.principal, server: this.#deps.server, taskId };
  }

  /** Brings what is kept to what is known now, on all replicas, and what is complete to the server. */
  async #settle(about: About, told: Told): Promise<Settled> {
    const { taskQuestions, timeouts, waiting, server, isDraining } = this.#deps;
    const { principal } = about.asked.exchange;
    const owner = { principal, server };
    const made = new Map<string, TakenQuestion>();
    const hasPlace = !isDraining() && noPlaceIn(waiting, owner) === undefined;
    let due: TaskQuestion[] = [];
    let isClaimed = false;
    try {
      let open: HeardQuestion[] = [];
      let before: readonly TaskQuestion[] = [];
      const change = async (kept: readonly TaskQuestion[]) => {
        before = kept;
        [due, open] = [[], []];
        const questions: TaskQuestion[] = [];
        for (const question of await this.#current(kept, about, told, made)) {
          const next = await this.#look(question, about);
          if (next.isDue && hasPlace) due.push(next.question);
          else if (next.heard) open.push(next.heard);
          questions.push(next.isDue && !hasPlace ? question : next.question);
        }
        return JSON.stringify(questions) === JSON.stringify(kept) ? undefined : questions;
      };
      const questions = await taskQuestions.change(this.#taskOf(about), change, timeouts.upstream);
      isClaimed = due.length > 0;
      await this.#revoke([...before, ...made.values()], questions);
      return { questions, open };
    } finally {
      if (isClaimed) void this.#bring(due, this.#outlasting(about));
      else if (hasPlace) waiting.give(1, owner);
    }
  }

  /** The questions of a task that are not withdrawn, with those that are new. @param made those, once their links are */
  async #current(
    kept: readonly TaskQuestion[],
    about: About,
    { requests, heard }: Told,
    made: Map<string, TakenQuestion>,
  ): Promise<TaskQuestion[]> {
    const now = this.#deps.clock.now();
    const known = kept.map((question) => (isOpen(question, now) && heard?.get(question.key)) || question);
    if (!requests) return known;
    const live = known.filter((question) => Object.hasOwn(requests, question.key) && !isOver(question, now));
    const keys = new Set(live.map(({ key }) => key));
    const fresh = Object.entries(requests).filter(([key]) => !keys.has(key));
    const unmade = fresh.filter(([key]) => !made.has(key));
    const { taken } = await takeQuestions(Object.fromEntries(unmade), this.#asker(about), this.#deps);
    for (const question of taken) made.set(question.key, question);
    return [...live, ...fresh.flatMap(([key]) => made.get(key) ?? [])];
  }

  #asker({ asked, taskId }: About): Asker {
    const { taskTools, server } = this.#deps;
    const { principal } = asked.exchange;
    return {
      client: asked.client,
      principal,
      call: { method: 'tasks/get', subject: taskId, params: {} },
      tool: () => taskTools.toolOf(taskId, { principal, server }),
      nextKey,
    };
  }

  /** Whether a question has what it needs. */
  async #look(
    question: TaskQuestion,
    { asked }: About,
  ): Promise<{ question: TaskQuestion; isDue: boolean; heard?: HeardQuestion }> {
    const { clock, timeouts } = this.#deps;
    if (!isOpen(question, clock.now())) return { question, isDue: false };
    const { principal, signal } = asked.exchange;
    const heard = await hearQuestion(question, {}, { principal, signal }, this.#deps);
    if (!isComplete(heard)) return { question: heard.question, isDue: false, heard };
    return { question: { ...heard.question, bringingUntil: clock.now() + timeouts.upstream }, isDue: true };
  }

  /** Takes back the links of questions that are asked no longer. */
  async #revoke(before: readonly TakenQuestion[], now: readonly TaskQuestion[]): Promise<void> {
    const asked = new Set(now.flatMap(({ files }) => files.map(({ ticket }) => ticket)));
    for (const { ticket, isThere } of before.flatMap(({ files }) => files))
      if (!isThere && !asked.has(ticket)) await this.#deps.uploadLinks.revoke(ticket);
  }

  /** Brings answers to the server, in one request. Never rejects. */
  async #bring(due: readonly TaskQuestion[], about: About): Promise<void> {
    const { server, timeouts, waiting, log } = this.#deps;
    const { asked, course, taskId } = about;
    const { principal, identity } = asked.exchange;
    const owner = { principal, server };
    const late = new AbortController();
    const facts = { server, limit: 'timeouts.upstream', allowed: timeouts.upstream };
    const timer = setTimeout(() => late.abort(new GatewayError('upstream_timeout', facts)), timeouts.upstream).unref();
    const { signal } = late;
    const inquire = course.inquire({ ...asked, exchange: { ...asked.exchange, signal } });
    const held = new HeldTogether(this.#deps.held, owner);
    const hold = (bytes: number) => held.hold(bytes);
    let isTold = false;
    try {
      hold(asked.exchange.body.length);
      const by = causeOf(asked.exchange);
      const context = { deps: await this.#underTool(about), principal, identity, by, inquire, signal, hold };
      const responses: [string, JsonValue][] = [];
      for (const question of due) responses.push([question.key, await answerTo(question, context)]);
      const answer = await inquire('tasks/update', { taskId, inputResponses: Object.fromEntries(responses) });
      isTold = answer !== undefined;
      if (answer && 'error' in answer)
        log.warn({ code: answer.error.code }, 'a server has refused the answer to a question of its task');
    } catch (err) {
      log.warn({ err }, 'a server could not be given the answer to a question of its task');
    } finally {
      clearTimeout(timer);
      held.release();
      waiting.give(1, owner);
    }
    const keys = new Set(due.map(({ key }) => key));
    await this.#brought(this.#taskOf(about), keys, isTold).catch((err: unknown) =>
      log.warn({ err }, 'it could not be noted that a server has the answer to a question of its task'),
    );
  }

  /** @param isTold where the server could not be reached, a later request brings them */
  async #brought(task: Task, keys: ReadonlySet<string>, isTold: boolean): Promise<void> {
    const { taskQuestions, timeouts } = this.#deps;
    const change = async (kept: readonly TaskQuestion[]) =>
      kept.map((question) => {
        if (!keys.has(question.key)) return question;
        const { bringingUntil: _, ...open } = question;
        return isTold ? toldQuestion(question) : open;
      });
    await taskQuestions.change(task, change, timeouts.upstream);
  }

  /** Waits for uploads on behalf of a client that need not ask for its task. Never rejects. */
  async #follow(about: About, awaited: readonly TakenFile[]): Promise<void> {
    const { waiting, server, clock, isDraining, log } = this.#deps;
    const { principal } = about.asked.exchange;
    const owner = { principal, server };
    const name = JSON.stringify([principal, about.taskId]);
    if (this.#followed.has(name) || noPlaceIn(waiting, owner) !== undefined) return;
    this.#followed.add(name);
    const held = new HeldTogether(this.#deps.held, owner);
    const until = Math.max(...awaited.map(({ expiresAt }) => expiresAt));
    const isStored = async () => awaitedIn((await this.#settle(about, {})).open).length === 0;
    const { signal } = about.asked.exchange;
    try {
      held.hold(about.asked.exchange.body.length);
      const said = async () => undefined;
      await waitForFile({ isStored, said, until, isDraining, signal, clock, looked: () => {} });
    } catch (err) {
      log.warn({ err }, 'the wait for a file that a task wants has ended');
    } finally {
      this.#followed.delete(name);
      held.release();
      waiting.give(1, owner);
    }
    // where the wait had the last place, the answer can go now
    await this.#settle(about, {}).catch((err: unknown) => log.warn({ err }, 'the questions of a task cannot be read'));
  }

  /** What is needed of a request once it is answered: not its body, which may hold files. It counts against `limits.held`. */
  #outlasting({ asked, course, taskId }: About): About {
    const _meta = metaOf(asked.messages.requests[0]?.params ?? {});
    const request = { jsonrpc: '2.0', id: 0, method: 'tasks/get', params: { taskId, _meta } };
    const body = Buffer.from(JSON.stringify(request));
    const { signal } = new AbortController();
    const exchange = { ...asked.exchange, body, signal, facts: { ...noFacts(), client: asked.exchange.facts.client } };
    return { asked: { ...asked, exchange, messages: parseMessages(body) }, course, taskId };
  }
}

function nextKey(): string {
  return `${OWN_KEY}${randomBytes(KEY_BYTES).toString('base64url')}`;
}

/** Whether it waits for its client. */
function isOpen({ isTold, bringingUntil = 0 }: TaskQuestion, now: number): boolean {
  return !isTold && bringingUntil <= now;
}

/** Whether one of its links has ended, so that it must be asked anew. */
function isOver(question: TaskQuestion, now: number): boolean {
  return isOpen(question, now) && question.files.some(({ expiresAt }) => expiresAt <= now);
}

function keysOf({ files, othersKey }: TakenQuestion): string[] {
  return [...files.map(({ key }) => key), ...(othersKey === undefined ? [] : [othersKey])];
}

/** Files whose users have agreed to open the page. */
function awaitedIn(open: readonly HeardQuestion[]): TakenFile[] {
  return open.flatMap(({ missing }) => missing.filter(({ isAwaited }) => isAwaited));
}

/**
 * What an answer has not settled is asked again by new keys: clients leave out keys that they have seen, as no key of a task
 * stands for two requests.
 */
function withNewKeys(question: TakenQuestion, answers: JsonObject): TaskQuestion {
  const isAnswered = (key: string) => Object.hasOwn(answers, key);
  const files = question.files.map((file) =>
    isAnswered(file.key) && !file.isThere && !file.isAwaited ? { ...file, key: nextKey() } : file,
  );
  const { othersKey, filled } = question;
  const isRepeated = othersKey !== undefined && isAnswered(othersKey) && filled === undefined;
  return { ...question, files, ...(isRepeated && { othersKey: nextKey() }) };
}

/** All that is kept of a question that its server has an answer to. */
function toldQuestion({ key, dialect, besides }: TaskQuestion): TaskQuestion {
  return { key, dialect, message: '', files: [], besides: { ...besides, properties: {} }, isTold: true };
}

import { metaOf } from '../../mcp/request.js';
import { mostText } from '../../policy/amounts.js';
import type { Stopwatch } from '../../ports/clock.js';
import type { JsonObject } from '../../ports/json.js';
import type { AskedReply } from './asked-reply.js';
import type { ToldUpload } from './questions.js';

/** How often a call that waits says so, if its client wants to know. */
const PROGRESS_MS = 5000;

/** How often it does so while its client reports an upload. */
const UPLOAD_PROGRESS_MS = 1000;

/** Most progress notifications to a server about one question. */
const SERVER_STEPS = 20;

/** The server's own progress begins at 0 or 1, and what comes first must be less. */
const PROGRESS_STEP = 1e-6;

/** Tells a client that wants to know that its call still waits, and where the page is. */
export class Progress {
  readonly #token: string | number | undefined;
  readonly #text: string;
  readonly #reply: AskedReply;
  readonly #clock: Stopwatch;
  #toldAt: number;
  #told = 0;

  constructor(params: JsonObject, text: string, reply: AskedReply, clock: Stopwatch) {
    this.#token = tokenIn(params);
    this.#text = text;
    this.#reply = reply;
    this.#clock = clock;
    this.#toldAt = clock.ticks();
  }

  /** @param upload what the client has reported about its upload so far */
  tell(upload: ToldUpload | undefined): void {
    const now = this.#clock.ticks();
    const pause = upload ? UPLOAD_PROGRESS_MS : PROGRESS_MS;
    // a client that does not read is told nothing more until it does
    if (this.#token === undefined || now - this.#toldAt < pause || this.#reply.pressure) return;
    this.#toldAt = now;
    this.#told += 1;
    const params = {
      progressToken: this.#token,
      progress: this.#told * PROGRESS_STEP,
      message: upload ? `${this.#text}: ${uploadText(upload)}` : this.#text,
    };
    this.#reply.say({ method: 'notifications/progress', params })?.catch(() => this.#reply.abort());
  }
}

/** Tells a server that wants to know how much of the files it has asked for has gone to it. */
export class ServerProgress {
  readonly #total: number;
  readonly #notify: (params: JsonObject) => Promise<void>;
  #told = 0;
  #running: Promise<void> | undefined;

  /** @param total bytes of all the files; `notify` sends the server a progress notification, and never rejects */
  constructor(total: number, notify: (params: JsonObject) => Promise<void>) {
    this.#total = total;
    this.#notify = notify;
  }

  /** @param done bytes of all the files; a file that is sent again is not reported again */
  tell(done: number, name: string): void {
    const isDue = done >= this.#told + this.#total / SERVER_STEPS || done === this.#total;
    if (done <= this.#told || !isDue) return;
    if (this.#running && done < this.#total) return;
    this.#told = done;
    const params = { progress: done, total: this.#total, message: `Uploading ${name}` };
    // one after the other, as progress must only grow
    this.#running = (this.#running ?? Promise.resolve()).then(() => this.#notify(params));
    const running = this.#running;
    void running.then(() => {
      if (this.#running === running) this.#running = undefined;
    });
  }

  /** Resolves when the server has heard everything. */
  async end(): Promise<void> {
    await this.#running;
  }
}

/** The token with which a request wants progress. */
export function tokenIn(params: JsonObject): string | number | undefined {
  const { progressToken } = metaOf(params);
  return typeof progressToken === 'string' || typeof progressToken === 'number' ? progressToken : undefined;
}

function uploadText({ done, total }: ToldUpload): string {
  const whole = total === undefined ? '' : ` of ${mostText(total)}`;
  return `${mostText(done)}${whole} uploaded`;
}

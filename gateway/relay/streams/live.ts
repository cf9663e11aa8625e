import { GatewayError } from '../../errors.js';
import { lightValue } from '../../json/light-value.js';
import type { Inquire } from '../../mcp/inquire.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { answersIn } from '../../mcp/responses.js';
import type { JsonPath } from '../../ports/json.js';
import type { UpstreamAnswer } from '../../ports/upstream.js';
import { Base64Decoder } from '../../wire/base64/decode.js';
import { parseDataUriHead } from '../../wire/data-uri.js';
import { pointer } from '../../wire/json/pointer.js';
import type { HeldMessage, SlotSink, SlotValue } from '../../wire/json/reader.js';
import type { Caller } from '../caller.js';
import type { ByteAnswer } from '../client/byte-answer.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import { CONTENT, contentsTree } from '../cut/places.js';
import { CutReader } from '../cut/reader.js';
import type { Exchange } from '../exchange.js';
import type { ResultDeps } from '../results/deps.js';
import { refuseDuplicates } from '../results/duplicates.js';
import { dismiss } from '../results/to-client.js';
import { pump } from '../upstream/pump.js';
import { decode, finish, itemOf } from './item.js';
import { namedFile } from './named-file.js';
import { refusalOf } from './refusal.js';
import type { StreamSender } from './send.js';

/** Raw base64 decoded in one step. */
const PIECE = 64 * 1024;

/** What a server answers a `resources/read` with. */
interface ReadAnswer {
  answer: UpstreamAnswer;
  kind: 'json' | 'sse' | 'lines';
  /** Of the request, as JSON text. */
  id: string;
}

/**
 * Reads the answer to a `resources/read` on its own channel and gives its content to the client as bytes. If address
 * and type come before a long content, its bytes are passed on as they arrive; otherwise they wait in the object store
 * until the message is complete.
 */
export class LiveResource {
  readonly #answer: UpstreamAnswer;
  readonly #id: string;
  readonly #sender: StreamSender;
  readonly #exchange: Exchange;
  readonly #inquire: Inquire;
  readonly #deps: ResultDeps;
  readonly #reader: CutReader;
  #live: LiveContent | undefined;
  #work: Promise<void> | undefined;
  #isOver = false;

  constructor(
    { answer, kind, id }: ReadAnswer,
    sender: StreamSender,
    { exchange, inquire }: Pick<Caller, 'exchange' | 'inquire'>,
    deps: ResultDeps,
  ) {
    this.#answer = answer;
    this.#id = id;
    this.#sender = sender;
    this.#exchange = exchange;
    this.#inquire = inquire;
    this.#deps = deps;
    const tree = contentsTree([...deps.cut.places.values()].map(({ place }) => place));
    this.#reader = new CutReader(
      kind,
      { ...deps.cut, tree },
      {
        tap: (value, message) => this.#tap(value, message),
        message: (message, cuts) => this.#onMessage(message, cuts),
      },
      { owner: { principal: exchange.principal, server: deps.server }, signal: exchange.signal },
    );
  }

  /** @throws GatewayError while nothing has been sent */
  async run(): Promise<void> {
    const deps = this.#deps;
    const exchange = this.#exchange;
    try {
      await pump(this.#answer.body, (chunk) => this.#take(chunk), {
        server: deps.server,
        principal: exchange.principal,
        pace: deps.pace,
        due: () => this.#reader.inMessage,
        signal: exchange.signal,
      });
      await this.#reader.end();
      await this.#work;
      if (!this.#isOver) throw new GatewayError('upstream_closed', { server: deps.server });
    } catch (error) {
      if (this.#isOver) return;
      this.#answer.body.destroy();
      this.#reader.abandon();
      await this.#work?.catch(() => {});
      if (this.#live?.answer.begun) this.#live.answer.abort();
      throw error;
    }
  }

  #take(chunk: Buffer): Promise<unknown> | undefined {
    const fed = this.#reader.feed(chunk);
    if (this.#answer.kind === 'json' && this.#reader.failure) throw this.#reader.failure;
    const waits = [fed, this.#reader.settle(), this.#live?.pressure, this.#work].filter((wait) => wait !== undefined);
    return waits.length === 0 ? undefined : Promise.all(waits);
  }

  /**
   * A content whose bytes can be sent at once: it is the requested one, its type is known, and the client accepts it.
   */
  #tap(value: SlotValue, message: HeldMessage): SlotSink | undefined {
    const [outcome, , index] = value.path;
    const id = message.captured(RANGE.id);
    // bytes that a client has got cannot be taken back: the antivirus has them first, their type is judged, and where they come from is noted
    const { antivirus, origins } = this.#deps.cut.ingest;
    if (antivirus || origins || this.#deps.limits.acceptResults) return undefined;
    if (outcome !== 'result' || this.#live || this.#isOver || (id !== undefined && id !== this.#id)) return undefined;
    const captured = (name: string) => {
      const found = message.captures.find((capture) => capture.name === name && capture.path[2] === index)?.text;
      return found?.startsWith('"') ? (JSON.parse(found) as string) : undefined;
    };
    const mimeType = captured(CONTENT.mimeType);
    if (captured(CONTENT.uri) !== this.#sender.order.uri || mimeType === undefined) return undefined;
    if (!this.#sender.takes(mimeType) || this.#mayBeTooLong()) return undefined;
    this.#live = new LiveContent(this.#sender.open({ mimeType }), pointer(value.path));
    return this.#live;
  }

  /**
   * True when the whole may have to be refused, so that nothing is sent early; base64 is at most three quarters of the
   * body.
   */
  #mayBeTooLong(): boolean {
    const { contentLength } = this.#answer;
    return contentLength !== undefined && Math.floor(contentLength / 4) * 3 > this.#sender.most;
  }

  #onMessage(message: HeldMessage, cuts: MessageCuts): void {
    const answer = answersIn(message).find(({ id }) => id === this.#id);
    if (!answer && !this.#live) {
      // a body of bytes has no place for the server's other messages
      const { metrics, server } = this.#deps;
      if (!message.empty) metrics.count('wharf_dropped_messages_total', { server, reason: 'stream' });
      this.#work = dismiss(cuts);
      return;
    }
    this.#work = this.#finish(message, cuts, answer?.base);
    // it is awaited with the next chunk, or at the end
    this.#work.catch(() => {});
  }

  async #finish(message: HeldMessage, cuts: MessageCuts, base: JsonPath | undefined) {
    try {
      await cuts.settle();
      if (cuts.failure) throw cuts.failure;
      if (message.malformed) throw new GatewayError('upstream_invalid', { reason: message.malformed.reason });
      if (!base) throw new GatewayError('upstream_invalid', { reason: 'it answered another request' });
      if (this.#live) this.#end(this.#live, message, base);
      else await this.#sendComplete(message, cuts, base);
      this.#isOver = true;
      // an event stream may stay open for long
      if (this.#answer.kind !== 'json') this.#answer.body.destroy();
    } finally {
      await dismiss(cuts);
    }
  }

  #end(live: LiveContent, message: HeldMessage, base: JsonPath): void {
    if (rangeAt(message, RANGE.error, [...base, 'error'])) {
      throw new GatewayError('upstream_invalid', { reason: 'it answered with a result and an error' });
    }
    refuseDuplicates(message);
    if (!live.complete) throw new GatewayError('upstream_closed', { server: this.#deps.server });
    live.answer.end();
  }

  async #sendComplete(message: HeldMessage, cuts: MessageCuts, base: JsonPath): Promise<void> {
    const { uri, streaming } = this.#sender.order;
    const { cut, limits } = this.#deps;
    const error = rangeAt(message, RANGE.error, [...base, 'error']);
    if (error) throw refusalOf(lightValue(message, error, limits) ?? null, uri, streaming);
    const asking = { ...this.#exchange, inquire: this.#inquire };
    const item = await itemOf({ message, cuts, base }, uri, {
      library: cut.library,
      limits,
      named: (one) => namedFile(one, this.#sender, asking, this.#deps),
    });
    const { stored } = item;
    // what has become a file is no longer the message's to remove
    await this.#sender.send(item, () => stored && cuts.recorded(stored));
  }
}

/** A string of base64 on its way to the client. */
class LiveContent implements SlotSink {
  readonly answer: ByteAnswer;
  /** Set while the client does not read. */
  pressure: Promise<void> | undefined;
  complete = false;
  /** The beginning, until it is known whether it is the head of a `data:` URI, which some servers write here. */
  #head: Buffer | undefined = Buffer.alloc(0);
  readonly #decoder = new Base64Decoder({ trackCanonical: false, anyBlanks: true });
  readonly #path: string;

  constructor(answer: ByteAnswer, path: string) {
    this.answer = answer;
    this.#path = path;
  }

  write(chunk: Buffer, start: number, end: number): void {
    if (!this.#head) {
      this.#decode(chunk, start, end);
      return;
    }
    const raw = Buffer.concat([this.#head, chunk.subarray(start, end)]);
    const head = parseDataUriHead(raw);
    this.#head = head === 'incomplete' ? raw : undefined;
    if (!this.#head) this.#decode(raw, typeof head === 'object' && head.base64 ? head.dataStart : 0, raw.length);
  }

  end(): void {
    if (this.#head) this.#decode(this.#head, 0, this.#head.length);
    this.#send(finish(this.#decoder, this.#path));
    this.complete = true;
  }

  #decode(raw: Buffer, start: number, end: number): void {
    for (let at = start; at < end; at += PIECE) {
      this.#send(decode(this.#decoder, raw.subarray(at, Math.min(at + PIECE, end)), this.#path));
    }
  }

  #send(bytes: Buffer): void {
    const slow = this.answer.write(bytes);
    if (!slow) return;
    const before = this.pressure;
    const pressure: Promise<void> = (before ? Promise.all([before, slow]).then(() => undefined) : slow).then(() => {
      if (this.pressure === pressure) this.pressure = undefined;
    });
    this.pressure = pressure;
  }
}

import { GatewayError } from '../../errors.js';
import { entityTag, headerUri, RESOURCE_HEADER, reprDigest } from '../../files/downloads/download.js';
import type { FileRecord } from '../../files/file.js';
import { attachment } from '../../files/names/content-disposition.js';
import { fileNameFor } from '../../files/names/file-name.js';
import {
  extensionFor,
  extensionOf,
  isMediaType,
  mediaTypeOf,
  OCTET_STREAM,
  sniff,
} from '../../files/names/media-type.js';
import { checkResultType } from '../../files/names/result-type.js';
import { writtenAs } from '../../files/names/text-hint.js';
import { storeFile } from '../../files/store-file.js';
import type { FileLabel } from '../../files/tickets/ticket.js';
import { accepts, isJsonOrEvents } from '../../mcp/accept.js';
import { single } from '../../mcp/headers.js';
import type { ClientMessages } from '../../mcp/request.js';
import { contrast } from '../../policy/amounts.js';
import type { ClientFacts } from '../../ports/client.js';
import type { JsonObject } from '../../ports/json.js';
import type { ResourceStreaming } from '../../ports/resource-streaming.js';
import { ByteAnswer } from '../client/byte-answer.js';
import { answerLocally } from '../client/local-answer.js';
import type { Exchange } from '../exchange.js';
import type { ResultDeps } from '../results/deps.js';
import { auditedBytes } from './audited-bytes.js';
import { inStore, type StreamItem } from './item.js';

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;
const SUBJECT = 'resource';

/** One client's request for a stream, and its limits. */
interface StreamOrder {
  uri: string;
  streaming: ResourceStreaming;
  client: ClientFacts;
  /** The client's own limit. */
  maxBytes: number | undefined;
}

/** Bytes of a URI in a header. Clients and proxies take heads of 4 to 16 KiB, and a record is kept as long as its file. */
const MAX_URI = 2048;

/** Gives a client one resource: its bytes as the body of the answer, or otherwise a link to them. */
export class StreamSender {
  readonly order: StreamOrder;
  readonly #exchange: Exchange;
  readonly #messages: ClientMessages;
  readonly #deps: ResultDeps;

  constructor(order: StreamOrder, exchange: Exchange, messages: ClientMessages, deps: ResultDeps) {
    this.order = order;
    this.#exchange = exchange;
    this.#messages = messages;
    this.#deps = deps;
  }

  /**
   * True when the answer may be a body of this type: clients read a JSON body as an error, some accept only certain types,
   * and the head must hold the URI.
   */
  takes(mimeType: string | undefined): boolean {
    const type = typeOf(mimeType);
    if (!fitsHead(this.order.uri)) return false;
    return !isJsonOrEvents(type) && accepts(single(this.#exchange.headers.accept), type);
  }

  /** Most bytes that are sent. */
  get most(): number {
    return Math.min(this.#deps.limits.file, this.order.maxBytes ?? Number.POSITIVE_INFINITY);
  }

  /** Begins an answer of bytes; its head waits for the first of them. */
  open(item: Pick<StreamItem, 'mimeType' | 'name' | 'size' | 'digest' | 'record'>): ByteAnswer {
    const { uri } = this.order;
    const { mimeType, name, size, digest } = item;
    const type = typeOf(mimeType);
    const headers = {
      'cache-control': 'no-store, no-transform',
      'content-type': type,
      'content-disposition': attachment(nameOf(name, uri, type)),
      ...(digest !== undefined && { etag: entityTag(digest), 'repr-digest': reprDigest(digest) }),
      [RESOURCE_HEADER]: headerUri(uri),
    };
    const head = size === undefined ? { headers } : { headers, size };
    const { files, server } = this.#deps;
    const watch = auditedBytes(files.audit, this.#exchange, { server, uri, method: this.order.streaming.method, item });
    return new ByteAnswer(this.#exchange, head, (bytes) => this.#check(bytes, undefined), watch);
  }

  /**
   * @param kept called when stored bytes have become a file
   * @throws GatewayError the failure; if some bytes have been sent, the connection has been cut
   */
  async send(item: StreamItem, kept?: () => void): Promise<void> {
    try {
      await this.#send(item, kept);
    } catch (error) {
      item.discard?.();
      throw error;
    }
  }

  async #send(offered: StreamItem, kept?: () => void): Promise<void> {
    const item = await this.#scanned(offered, kept);
    if (item.size !== undefined) this.#check(item.size, item.size);
    if (!this.takes(item.mimeType)) {
      const result = await this.linkTo(item, kept);
      answerLocally(this.#exchange, this.#messages, { result });
      return;
    }
    const answer = this.open(item);
    try {
      for await (const bytes of item.read(this.#exchange.signal)) await answer.write(bytes);
      answer.end();
    } catch (error) {
      if (answer.begun) answer.abort();
      throw error;
    }
  }

  /** With an antivirus or rules about files every item is a file first: what a client has got cannot be taken back. */
  async #scanned(item: StreamItem, kept?: () => void): Promise<StreamItem> {
    const { ingest, library } = this.#deps.cut;
    const { acceptResults } = this.#deps.limits;
    const isWatched = [ingest.antivirus, ingest.origins, acceptResults].some((one) => one !== undefined);
    if (!isWatched || item.record) return item;
    if (item.size !== undefined) this.#check(item.size, item.size);
    const record = await this.#publish(item);
    kept?.();
    const { mimeType, name } = item;
    return { ...(mimeType && { mimeType }), ...(name && { name }), ...inStore(record, library), record };
  }

  /**
   * The result with a link, once the bytes are a file.
   * @param kept called when they are
   */
  async linkTo(item: StreamItem, kept?: () => void): Promise<JsonObject> {
    if (item.size !== undefined) this.#check(item.size, item.size);
    const { uri, streaming } = this.order;
    const record = item.record ?? (await this.#publish(item));
    kept?.();
    this.#check(record.size, record.size);
    const ref = await this.#deps.cut.library.refer(record, 'usual', await this.#labelOf(record));
    const { facts } = this.#exchange;
    facts.files += 1;
    facts.fileBytes += record.size;
    // the store's own link has the file's name in it, and its answer does not say which resource it is
    return streaming.link(uri, item.mimeType ?? record.mimeType, { ...ref, url: ref.link.url });
  }

  /** A link's answers name the resource as an answer of bytes does; a file of Wharf's own is one by its handle. */
  async #labelOf(record: FileRecord): Promise<FileLabel | undefined> {
    const { uri } = this.order;
    if (record.resource !== undefined || !fitsHead(uri)) return undefined;
    const { library } = this.#deps.cut;
    const { name, mimeType, uri: handle } = library.describe(record);
    return { name, mimeType, resource: (await library.owns(uri)) ? handle : uri };
  }

  async #publish(item: StreamItem): Promise<FileRecord> {
    const { server, cut, limits } = this.#deps;
    const { uri } = this.order;
    const types = limits.acceptResults;
    const { principal, signal } = this.#exchange;
    const about = fitsHead(uri) && { resource: uri };
    const claims = { uri, ...(item.name && { name: item.name }), ...(item.mimeType && { mimeType: item.mimeType }) };
    if (!item.stored) {
      const limit = { name: 'limits.file', bytes: limits.file, path: uri };
      const bytes = item.read(signal);
      return storeFile({ bytes, claims, principal, server, subject: SUBJECT, limit, types, ...about }, cut, signal);
    }
    const sniffed = await sniff(item.stored.head);
    const ext = extensionOf(item.mimeType, sniffed);
    const name = fileNameFor({ ...claims, owner: SUBJECT, index: 1, ext });
    const mimeType = mediaTypeOf(item.mimeType, sniffed);
    checkResultType(types, { declared: item.mimeType, sniffed }, uri);
    const facts = { principal, server, name, mimeType, ...writtenAs(mimeType, item.stored.head), ...about };
    return cut.library.publish(item.stored, facts, { subject: uri });
  }

  #check(bytes: number, size: number | undefined): void {
    const { maxBytes, uri } = this.order;
    if (maxBytes !== undefined && bytes > maxBytes) {
      const { allowed, actual } = contrast(maxBytes, bytes);
      const soFar = size === undefined ? ' so far' : '';
      const text = `The resource is larger than the client's maxStreamSize, ${allowed} (${actual}${soFar}).`;
      const facts = { reason: 'maxStreamSizeExceeded', uri, text, maxSize: maxBytes };
      throw new GatewayError('stream_refused', size === undefined ? facts : { ...facts, size });
    }
    const { file } = this.#deps.limits;
    if (bytes > file)
      throw new GatewayError('file_too_large', { path: uri, limit: 'limits.file', allowed: file, actual: bytes });
  }
}

function typeOf(mimeType: string | undefined): string {
  return mimeType !== undefined && PRINTABLE.test(mimeType) && isMediaType(mimeType) ? mimeType : OCTET_STREAM;
}

function nameOf(name: string | undefined, uri: string, type: string): string {
  return fileNameFor({ name, uri, owner: SUBJECT, index: 1, ext: extensionFor(type) });
}

function fitsHead(uri: string): boolean {
  return uri.length <= MAX_URI && headerUri(uri).length <= MAX_URI;
}

import type { Clock } from '../../ports/clock.js';
import type { FileRef, ShortLink } from '../../ports/file.js';
import type { ObjectStore } from '../../ports/object-store.js';
import type { FileRecord } from '../file.js';
import { handleOf, idOfPath, newFileId, objectKey } from '../handles/handle.js';
import type { FileLabel, Tickets } from '../tickets/ticket.js';
import { servedAs } from './download.js';

export interface LinkDeps {
  objects: ObjectStore;
  tickets: Tickets;
  clock: Clock;
  settings: {
    gatewayId: string;
    /** How clients reach Wharf, without a trailing slash; known once the port is. */
    publicUrl: () => string;
    /** `lastingMs`: Wharf's own links work as long as their files, which are kept this long after each use. */
    links: { style: 'presigned' | 'gateway'; ttlMs: number; lastingMs?: number; endWithProcess?: true };
  };
}

/** Has the length of a ticket, but is not one. */
const SAMPLE_TICKET = 'A'.repeat(43);
const SAMPLE_LABEL = { name: 'file.bin', mimeType: 'application/octet-stream' };

/**
 * The beginning of every link, as parsers of addresses read it: they leave out controls before it, and tabs and ends of lines
 * anywhere. Other texts, which may be long, are not parsed.
 */
const ADDRESS = /^[\s\p{Cc}]*h[\t\n\r]*t[\t\n\r]*t[\t\n\r]*p[\t\n\r]*(?:s[\t\n\r]*)?:/iu;

/** What a link leads to. */
export type LinkReading = { kind: 'ok'; handle: string } | { kind: 'expired' } | { kind: 'unknown' };

/** One of Wharf's own addresses, by its kind. */
type OwnLink =
  | { kind: 'upload' }
  | { kind: 'ticket'; ticket: string }
  | { kind: 'presigned'; id: string; path: string };

type FindRecord = (id: string) => Promise<FileRecord | undefined>;
type PresignedFile = Pick<FileRecord, 'key' | 'name' | 'mimeType' | 'notUtf8'>;

/** Makes links to files: Wharf's own, which are short, and the store's. */
export class Links {
  readonly #deps: LinkDeps;

  constructor(deps: LinkDeps) {
    this.#deps = deps;
  }

  /**
   * The pointer to a file for a message, with a fresh link.
   * @param how `direct`: the link answers 200 by itself, whatever `links.style` says
   * @param as name and type of the download, if they differ from the record's
   */
  async refer(record: FileRecord, how: 'usual' | 'direct' = 'usual', as?: FileLabel): Promise<FileRef> {
    const { clock, settings } = this.#deps;
    const presigned = this.#presigns(how) ? await this.#presignedLink({ ...record, ...as }, how) : undefined;
    // no text for a model uses a direct link
    const link = presigned && how === 'direct' ? presigned : await this.#shortLink(record, as, clock.now());
    const { url, expiresAt, ttlSeconds } = presigned ?? link;
    const { name, mimeType } = { ...record, ...as };
    return {
      uri: handleOf(settings.gatewayId, record.id),
      url,
      link,
      name,
      mimeType,
      size: record.size,
      digest: `sha-256:${record.digest}`,
      expiresAt,
      ttlSeconds,
    };
  }

  /** Links of the kinds that `refer` makes, to no file. */
  async samples(): Promise<string[]> {
    const link = this.#linkOf(SAMPLE_TICKET);
    if (!this.#presigns('usual')) return [link];
    const url = await this.presign({ key: objectKey(newFileId()), ...SAMPLE_LABEL }, this.#ttlSeconds());
    return [url, link];
  }

  /** A URL of the store's own; only for stores with `presign`. */
  presign(record: PresignedFile, ttlSeconds: number): Promise<string> {
    const { objects } = this.#deps;
    if (!objects.presign) throw new Error(`${objects.name} cannot presign`);
    return objects.presign(record.key, { ttlSeconds, ...servedAs(record) });
  }

  /** True for every address of these, whether it still leads to a file or not. Asks no store. */
  async owns(text: string): Promise<boolean> {
    return (await this.#own(text)) !== undefined;
  }

  /**
   * What one of these links leads to; undefined for any other address.
   * @param find finds the caller's own files alone
   */
  async read(text: string, find: FindRecord): Promise<LinkReading | undefined> {
    const { tickets, settings } = this.#deps;
    const own = await this.#own(text);
    if (!own) return undefined;
    // every holder of a link for uploading may use it, so no server is shown one
    if (own.kind === 'upload') return { kind: 'unknown' };
    if (own.kind === 'presigned') return this.#readPresigned(own, find);
    const redeemed = await tickets.redeemDownload(own.ticket);
    return redeemed.kind === 'ok' ? { kind: 'ok', handle: handleOf(settings.gatewayId, redeemed.fileId) } : redeemed;
  }

  async #own(text: string): Promise<OwnLink | undefined> {
    if (!ADDRESS.test(text) || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    const base = new URL(`${this.#deps.settings.publicUrl()}/`);
    const path = isSameHost(url, base) ? plainPath(url) : '';
    if (path.startsWith(`${base.pathname}u/`)) return { kind: 'upload' };
    const downloads = `${base.pathname}d/`;
    // a query such as `?download` says how the file is served, not which
    if (path.startsWith(downloads)) return { kind: 'ticket', ticket: path.slice(downloads.length) };
    const id = this.#deps.objects.presign && idOfPath(url.pathname);
    if (id === undefined) return undefined;
    // of several attempts to store a file, each has its own object, whose key begins like this
    const first = await this.#addressOf({ key: objectKey(id), ...SAMPLE_LABEL });
    const isOwn = first.origin === url.origin && url.pathname.startsWith(first.pathname);
    return isOwn ? { kind: 'presigned', id, path: url.pathname } : undefined;
  }

  /** A presigned URL comes from the store: it is ours when signing the same object again gives the same address. */
  async #readPresigned({ id, path }: OwnLink & { kind: 'presigned' }, find: FindRecord): Promise<LinkReading> {
    const record = await find(id);
    const handle = handleOf(this.#deps.settings.gatewayId, id);
    // a caller who knows another's handle can write this address, and must not learn whether there is such a file
    if (!record) return { kind: 'ok', handle };
    const { pathname } = await this.#addressOf(record);
    return pathname === path ? { kind: 'ok', handle } : { kind: 'unknown' };
  }

  async #addressOf(record: PresignedFile): Promise<URL> {
    return new URL(await this.presign(record, 1));
  }

  #presigns(how: 'usual' | 'direct'): boolean {
    const { objects, settings } = this.#deps;
    return objects.presign !== undefined && (settings.links.style === 'presigned' || how === 'direct');
  }

  /** Undefined where credentials of the store end before a usual link should: Wharf's own is good to its end. */
  async #presignedLink(record: PresignedFile, how: 'usual' | 'direct'): Promise<ShortLink | undefined> {
    const { objects, clock, settings } = this.#deps;
    const end = (await objects.presignsUntil?.()) ?? Number.POSITIVE_INFINITY;
    const now = clock.now();
    const ttlMs = Math.max(1000, Math.min(settings.links.ttlMs, end - now));
    if (ttlMs < settings.links.ttlMs && how === 'usual') return undefined;
    const url = await this.presign(record, this.#ttlSeconds());
    return { url, ...lifeOf(now, ttlMs), lasts: false };
  }

  #ttlSeconds(): number {
    return Math.floor(this.#deps.settings.links.ttlMs / 1000);
  }

  async #shortLink({ id, principal, server }: FileRecord, as: FileLabel | undefined, now: number): Promise<ShortLink> {
    const { tickets, settings } = this.#deps;
    const { ttlMs, lastingMs, endWithProcess } = settings.links;
    // a link without a life of its own may end long before the process
    const end = { ...(lastingMs !== undefined && endWithProcess && { endsWithProcess: endWithProcess }) };
    if (lastingMs !== undefined && !as) {
      return { url: this.#linkOf(tickets.lasting(id)), ...lifeOf(now, lastingMs), lasts: true, ...end };
    }
    const { ticket } = await tickets.mintDownload(id, lastingMs ?? ttlMs, { principal, server }, as);
    return { url: this.#linkOf(ticket), ...lifeOf(now, lastingMs ?? ttlMs), lasts: false, ...end };
  }

  #linkOf(ticket: string): string {
    return `${this.#deps.settings.publicUrl()}/d/${ticket}`;
  }
}

/** Names of this machine; a link for it works under each of them. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function isSameHost(url: URL, base: URL): boolean {
  // a link that was written with the other scheme still has the ticket
  if (url.port !== base.port) return false;
  return url.hostname === base.hostname || (LOOPBACK.has(url.hostname) && LOOPBACK.has(base.hostname));
}

/** The path as a lenient reader of addresses may take it: its ticket must not reach a server in another spelling. */
function plainPath({ pathname }: URL): string {
  const slashes = pathname.replaceAll(/\/{2,}/g, '/');
  try {
    return decodeURIComponent(slashes).replaceAll(/\/{2,}/g, '/');
  } catch {
    return slashes;
  }
}

function lifeOf(now: number, ms: number): Pick<ShortLink, 'expiresAt' | 'ttlSeconds'> {
  return { expiresAt: new Date(now + ms).toISOString(), ttlSeconds: Math.floor(ms / 1000) };
}

import { LRUCache } from 'lru-cache';
import { GatewayError } from '../errors.js';
import { bearerChallenge, unchangedChallenge, writtenChallenge } from '../identity/passed-challenge.js';
import { METADATA_PREFIX } from '../identity/resource.js';
import type { Clock } from '../ports/clock.js';
import type { Identity } from '../ports/identity.js';
import type { JsonObject } from '../ports/json.js';
import type { ExchangeUpstream } from '../ports/upstream.js';
import { ServerChallenge } from './server-challenge.js';
import { ServerDocuments } from './server-documents.js';

/** Callers that the server has taken, some 200 bytes each. */
const MOST_ACCEPTED = 10_000;

/** For how long a server's judgement holds for what Wharf does without the server. */
const ACCEPTED_MS = 5 * 60_000;

/** Characters of a path that a challenge may name. */
const LONGEST_PATH = 1000;

/** The documents of clients that know no others: RFC 8414 and OpenID Connect, at the root of the server (MCP 2025-03-26). */
const OLD_METADATA = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'] as const;

interface PassedLoginSettings {
  /** `auth.passthrough.resource` */
  resource: 'rewrite' | 'verbatim';
  /** The server's name, and the URL by which its own metadata names it. */
  server: string;
  url: string;
  baseUrl: () => string;
  clock: Clock;
}

/**
 * The login of the only server, passed through. Clients get the server's challenges and documents; with `rewrite` they
 * name Wharf's URL as the resource, which is what clients compare.
 */
export class PassedLogin {
  /** Where its documents are, as paths. */
  readonly paths = [METADATA_PREFIX, `${METADATA_PREFIX}/*`, ...OLD_METADATA];
  readonly #settings: PassedLoginSettings;
  readonly #accepted: LRUCache<string, true>;
  #documents: ServerDocuments | undefined;
  /** Where the server's own metadata is, if a challenge has said so: a path on its origin. */
  #place: string | undefined;

  constructor(settings: PassedLoginSettings) {
    this.#settings = settings;
    const { clock } = settings;
    this.#accepted = new LRUCache({ max: MOST_ACCEPTED, ttl: ACCEPTED_MS, perf: clock, ttlResolution: 0 });
  }

  /** Its documents are asked for there. */
  serve(upstream: ExchangeUpstream): void {
    this.#documents = new ServerDocuments(upstream, this.#settings.clock);
  }

  accepted({ principal }: Identity): void {
    this.#accepted.set(principal, true);
  }

  /** Whether the server has lately taken a request of this caller. */
  knows({ principal }: Identity): boolean {
    return this.#accepted.has(principal);
  }

  /** The refusal of a server as the client gets it. Other errors stay as they are. @param url of the request */
  shown(error: GatewayError, url = ''): GatewayError {
    const { cause, code, facts } = error;
    if (!(cause instanceof ServerChallenge)) return error;
    // the server may send its callers to another authorization server now (SEP-2352)
    this.#documents?.forget();
    const params = bearerChallenge(cause.header);
    const told = params?.get('resource_metadata');
    const place = told === undefined ? undefined : this.#placeOf(told);
    if (place !== undefined) this.#place = place;
    if (this.#settings.resource === 'verbatim') {
      const challenge = unchangedChallenge(cause.header);
      return new GatewayError(code, { ...facts, ...(challenge !== undefined && { challenge }) }, cause);
    }
    // an address at another host is not Wharf's to ask: clients then see for themselves that it is for another resource
    const metadataUrl = place === undefined ? told : this.#metadataUrl(pathOf(url, this.#settings.server));
    const scope = params?.get('scope');
    const all = {
      ...facts,
      ...(params && { challenge: writtenChallenge(params, metadataUrl) }),
      ...(scope !== undefined && { scope }),
      ...(metadataUrl !== undefined && { resourceMetadata: metadataUrl }),
    };
    return new GatewayError(code, all, cause);
  }

  /**
   * A document of the server's about its login; undefined where it has none.
   * @param path of the request
   */
  async document(path: string): Promise<JsonObject | undefined> {
    const documents = this.#documents;
    if (!documents) return undefined;
    if (OLD_METADATA.some((one) => one === path)) return documents.at(path);
    const { resource, server, url } = this.#settings;
    const inner = this.#inner(path);
    if (inner !== '' && inner !== '/mcp' && inner !== `/${server}/mcp`) return undefined;
    const { pathname } = new URL(url);
    const own = inner === '' ? [] : [`${METADATA_PREFIX}${pathname.replace(/\/$/, '')}`];
    const places = [...(this.#place === undefined ? [] : [this.#place]), ...own, METADATA_PREFIX];
    for (const place of new Set(places)) {
      const found = await documents.at(place);
      if (found) return resource === 'verbatim' ? found : this.#rewritten(found, inner === '' ? '/mcp' : inner);
    }
    return undefined;
  }

  /** The server's metadata for Wharf's URL; as it is, where it is not about the server: its clients then refuse it. */
  #rewritten(found: JsonObject, path: string): JsonObject {
    const { url, baseUrl } = this.#settings;
    if (typeof found.resource !== 'string' || !isAbout(found.resource, url)) return found;
    // signed claims would contradict it, and go before it (RFC 9728 §2.2)
    const { signed_metadata: _, ...rest } = found;
    return { ...rest, resource: `${baseUrl()}${path}` };
  }

  /** The path of an address on the server's own origin. */
  #placeOf(address: string): string | undefined {
    if (!URL.canParse(address)) return undefined;
    const { origin, pathname, search } = new URL(address);
    const path = `${pathname}${search}`;
    return origin === new URL(this.#settings.url).origin && path.length <= LONGEST_PATH ? path : undefined;
  }

  #metadataUrl(path: string): string {
    const base = this.#settings.baseUrl();
    const { origin, pathname } = new URL(base);
    return `${origin}${METADATA_PREFIX}${pathname.replace(/\/$/, '')}${path}`;
  }

  /** The part of a metadata path that names a resource. A proxy may have removed the path of `publicUrl`, or passed it on. */
  #inner(path: string): string {
    const inner = path.slice(METADATA_PREFIX.length);
    const base = new URL(this.#settings.baseUrl()).pathname.replace(/\/$/, '');
    return base !== '' && (inner === base || inner.startsWith(`${base}/`)) ? inner.slice(base.length) : inner;
  }
}

/** By which of its two paths the only server was asked. */
function pathOf(url: string, server: string): string {
  return /^\/mcp(?:\?|$)/.test(url) ? '/mcp' : `/${server}/mcp`;
}

/** Whether a resource's identifier covers a URL, as clients compare them: one origin, and a path that the other begins with. */
function isAbout(resource: string, url: string): boolean {
  if (!URL.canParse(resource)) return false;
  const [one, other] = [new URL(resource), new URL(url)];
  const slashed = (path: string) => (path.endsWith('/') ? path : `${path}/`);
  return one.origin === other.origin && slashed(other.pathname).startsWith(slashed(one.pathname));
}

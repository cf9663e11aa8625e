import { type ScopeRules, type ServerScopes, scopesOf } from '../policy/scopes.js';

/** RFC 9728 §3: comes between the host of a resource and its path. */
export const METADATA_PREFIX = '/.well-known/oauth-protected-resource';

/** What begins the paths of documents about logging in, which pages of every site may read. */
export const LOGIN_DOCUMENTS = [
  METADATA_PREFIX,
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
] as const;

/** How long a client may keep the metadata. */
const KEPT_SECONDS = 300;

interface ResourceSettings {
  /** `auth.jwt.resource` */
  resource: 'perServer' | 'gateway';
  scopes: ScopeRules;
  /** The issuers' names, as the metadata tells them. */
  issuers: readonly string[];
  /** What every URL begins with: never anything that a request says. */
  baseUrl: () => string;
}

/** One protected resource: what a token is for. */
export interface Resource {
  /** Its identifier, byte for byte the URL that a user types. */
  readonly id: string;
  readonly metadataUrl: string;
  readonly scopes: ServerScopes;
}

/** The protected resources of this gateway, by RFC 9728. */
export class Resources {
  /** Where its documents are, as paths. */
  readonly paths = [METADATA_PREFIX, `${METADATA_PREFIX}/*`];
  readonly #settings: ResourceSettings;
  readonly #known = new Map<string, Resource>();
  #servers: readonly string[] = [];
  #scopes: ReadonlyMap<string, ServerScopes> = new Map();

  constructor(settings: ResourceSettings, servers: readonly string[]) {
    this.#settings = settings;
    this.put(servers);
  }

  /** Takes over which servers there are. */
  put(servers: readonly string[]): void {
    this.#servers = servers;
    this.#scopes = new Map(servers.map((name) => [name, scopesOf(this.#settings.scopes, name)]));
    this.#known.clear();
  }

  /** What a token for this server must be for. @param url of the request, which tells by which path it is asked for */
  of(server: string, url = ''): Resource {
    const path = this.#settings.resource === 'gateway' ? '' : this.#isShort(url) ? '/mcp' : `/${server}/mcp`;
    const key = `${path} ${server}`;
    let resource = this.#known.get(key);
    if (!resource) {
      resource = this.#resource(path, this.#scopes.get(server) ?? scopesOf(this.#settings.scopes, server));
      this.#known.set(key, resource);
    }
    return resource;
  }

  /** The identifiers that a token for a server may name: a server alone has two paths. */
  idsOf(server: string): readonly string[] {
    const long = this.of(server).id;
    const short = this.of(server, '/mcp').id;
    return long === short ? [long] : [long, short];
  }

  /** Every identifier that a token for any of the servers may name. */
  get ids(): readonly string[] {
    return this.#servers.flatMap((server) => this.idsOf(server));
  }

  /**
   * The metadata document at a path; undefined at other paths. A proxy may have removed the path of `publicUrl`, or
   * passed it on.
   */
  document(path: string): object | undefined {
    const { resource: kind, baseUrl, issuers } = this.#settings;
    const servers = this.#servers;
    const inner = path.slice(METADATA_PREFIX.length);
    const base = basePath(baseUrl());
    const place = base !== '' && (inner === base || inner.startsWith(`${base}/`)) ? inner.slice(base.length) : inner;
    const [only, ...others] = servers;
    const isOnly = only !== undefined && others.length === 0;
    const named = servers.find((server) => place === `/${server}/mcp`);
    let resource: Resource | undefined;
    if (kind === 'gateway') {
      const scopes = servers.flatMap((server) => this.#scopes.get(server)?.all ?? []);
      const all = [...new Set(scopes)];
      resource = place === '' ? this.#resource('', { own: all, all, tools: [] }) : undefined;
    } else if (named !== undefined) resource = this.of(named);
    // clients of 2025-06-18 look at the root; with several servers it could be only one of them
    else if (isOnly && (place === '/mcp' || place === '')) resource = this.of(only, '/mcp');
    if (!resource) return undefined;
    return {
      resource: resource.id,
      authorization_servers: issuers,
      ...(resource.scopes.all.length > 0 && { scopes_supported: resource.scopes.all }),
      bearer_methods_supported: ['header'],
      resource_name: named ?? 'Wharf',
    };
  }

  #resource(path: string, scopes: ServerScopes): Resource {
    const base = this.#settings.baseUrl();
    const { origin } = new URL(base);
    return { id: `${base}${path}`, metadataUrl: `${origin}${METADATA_PREFIX}${basePath(base)}${path}`, scopes };
  }

  /** `/mcp`, which exists where there is one server. */
  #isShort(url: string): boolean {
    return this.#servers.length === 1 && /^\/mcp(?:\?|$)/.test(url);
  }
}

/** Documents about where clients log in. */
export interface LoginDocuments {
  readonly paths: readonly string[];
  /** The document at a path; undefined without one. */
  document(path: string): object | undefined | Promise<object | undefined>;
}

/** Headers of the document. It holds nothing secret, and clients in browsers need it, so every page may read it. */
export const METADATA_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'cache-control': `max-age=${KEPT_SECONDS}`,
  'content-type': 'application/json',
  'cross-origin-resource-policy': 'cross-origin',
};

function basePath(base: string): string {
  return new URL(base).pathname.replace(/\/$/, '');
}

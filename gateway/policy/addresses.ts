import ipaddr from 'ipaddr.js';

/** Presigned URLs have one or two thousand characters; servers take request heads of 8 to 16 KiB. */
const MAX_URL_CHARACTERS = 8192;

/** RFC 1035 §2.3.4. */
const MAX_NAME_CHARACTERS = 253;

/** Rules for the addresses that a peer names. */
export interface AddressRules {
  /** `host` (at https's own port) or `host:port`, either with `*.` in front. Undefined allows every public host. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origin of the upstream that named the address. */
  readonly ownOrigin?: string | undefined;
  /** Further origins that the operator lets this upstream name. */
  readonly origins?: readonly string[] | undefined;
  /** Ports of this machine where Wharf itself listens. Its health, metrics and links are not for upstreams. */
  readonly ownPorts?: readonly number[] | undefined;
}

/**
 * Which addresses a target may have:
 * - `public`: public ones;
 * - `own`: private ones too, because the MCP connection goes to this host and port, or the operator has named them;
 * - `loopback`: loopback ones, for the same reason.
 */
export type Standing = 'public' | 'own' | 'loopback';

/** An allowed URL, taken apart. */
export interface Target {
  readonly secure: boolean;
  /** A lower-case name without a trailing dot, or a literal address without brackets. */
  readonly host: string;
  readonly literal: boolean;
  readonly port: number;
  /** The value of the Host header. */
  readonly authority: string;
  /** Path and query, byte for byte as written wherever that is legal, because they may be signed. */
  readonly path: string;
  readonly standing: Standing;
  /** Wharf itself listens at this port, so the host must not be this machine. */
  readonly isOwnPort: boolean;
}

/** Why an address is not requested. */
export interface Refusal {
  readonly kind: 'refused';
  /** Public: holds nothing of the URL's path and query, and no resolved address. */
  readonly reason: string;
  readonly host?: string;
  /** For the log. */
  readonly detail?: string;
}

/** Judges a URL before its name is resolved. Literal addresses are judged here, because they are never resolved. */
export function judgeUrl(text: string, rules: AddressRules): { kind: 'allowed'; target: Target } | Refusal {
  if (text.length > MAX_URL_CHARACTERS) return refused(`it is longer than ${MAX_URL_CHARACTERS} characters`);
  // some URL parsers drop these, some turn them into slashes
  if (hasUnsafeCharacters(text)) return refused('it holds blanks, control characters or backslashes');
  if (!URL.canParse(text)) return refused('it is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('it is not https');
  // "https:host" and "https:///host" are read differently by different parsers
  const authority = /^[a-z]+:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) return refused('it is not a URL');
  if (authority.includes('@')) return refused('it holds a user name or password');

  const host = hostOf(url);
  if (host.length > MAX_NAME_CHARACTERS || !/^(?:[a-z0-9._-]+|[0-9a-f:.]+)$/.test(host)) {
    return refused('its host name is not valid');
  }
  // the URL parser has normalised every spelling of an IPv4 address (octal, short, full-width…) to four decimal numbers
  const literal = host.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(host);
  const bracketed = host.includes(':') ? `[${host}]` : host;
  const named = url.port === '' ? bracketed : `${bracketed}:${url.port}`;
  const secure = url.protocol === 'https:';
  const port = portOf(url);
  const standing = standingOf(url, rules);
  if (!secure && standing === 'public') return refused('it is not https', named);
  const isOwnPort = rules.ownPorts?.includes(port) === true;
  if (isOwnPort && isLoopbackHost(host)) return refused('it is an address of Wharf itself', named);
  if (standing === 'public') {
    if (rules.allowedHosts !== undefined && !isAllowed(rules.allowedHosts, `${bracketed}:${port}`, literal)) {
      return refused('its host is not among the allowed ones', named);
    }
    if (literal && !isPublic(host)) {
      return { ...refused('its address is not a public one', named), detail: `${host} (${rangeOf(host)})` };
    }
  }
  return {
    kind: 'allowed',
    target: { secure, host, literal, port, authority: named, path: pathOf(text, url), standing, isOwnPort },
  };
}

/**
 * Judges a redirect. It must stay on the same host and port, and must not be less secure: another port is another
 * service, and on loopback possibly another user's.
 */
export function judgeRedirect(
  location: string,
  from: Target,
  rules: AddressRules,
): { kind: 'allowed'; target: Target } | Refusal {
  const base = `${from.secure ? 'https' : 'http'}://${from.authority}${from.path}`;
  if (hasUnsafeCharacters(location) || !URL.canParse(location, base)) {
    return refused('it redirects to what is not a URL', from.authority);
  }
  const next = new URL(location, base);
  const isSameScheme = next.protocol === new URL(base).protocol;
  if (isSameScheme && hostOf(next) === from.host && portOf(next) !== from.port) {
    return refused('it redirects to another port', from.authority);
  }
  // A full URL is judged as written, because its path may be signed too.
  const judged = judgeUrl(/^https?:/i.test(location) ? location : next.href, rules);
  if (judged.kind === 'refused') return { ...judged, reason: `it redirects, and there ${judged.reason}` };
  if (judged.target.host !== from.host) return refused('it redirects to another host', from.authority);
  if (from.secure && !judged.target.secure) return refused('it redirects from https to http', from.authority);
  if (judged.target.port !== from.port) return refused('it redirects to another port', from.authority);
  return judged;
}

/** Judges the addresses that a name resolves to. All of them count, because any of them may be used. */
export function judgeAddresses(target: Target, addresses: readonly string[]): Refusal | undefined {
  const fits = { public: isPublic, own: isPublicOrInner, loopback: isLoopback }[target.standing];
  const wrong = addresses.find((address) => !fits(address) || (target.isOwnPort && isLoopback(address)));
  if (wrong === undefined) return undefined;
  const reason =
    target.standing === 'public'
      ? 'its host has an address that is not public'
      : 'its host has an address that it should not have';
  return { ...refused(reason, target.authority), detail: `${target.host} is ${wrong} (${rangeOf(wrong)})` };
}

/** True for an address in public use: outside IANA's special ranges, and without an embedded IPv4 address. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (!(parsed instanceof ipaddr.IPv6)) return true;
  const [first = 0, , , , fifth = 0, sixth] = parsed.parts;
  // Global unicast is 2000::/3; ISATAP (RFC 5214) carries an IPv4 address behind ::0:5efe or ::200:5efe.
  const isIsatap = (fifth & 0xfdff) === 0 && sixth === 0x5efe;
  return (first & 0xe000) === 0x2000 && !isIsatap;
}

/**
 * Ranges for servers on a private network. Not link-local: a name that suddenly resolves to 169.254.169.254 means a
 * cloud's metadata service, which gives out credentials.
 */
const INNER: readonly string[] = ['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'];

function isPublicOrInner(address: string): boolean {
  return isPublic(address) || INNER.includes(rangeOf(address));
}

function isLoopback(address: string): boolean {
  return rangeOf(address) === 'loopback';
}

/** Name of the address's range; an IPv4 address embedded in IPv6 is extracted first. */
function rangeOf(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).range() : 'malformed';
}

/** Scheme, host and port must agree: another port of the same machine is another service, possibly another user's. */
function standingOf(url: URL, { ownOrigin, origins = [] }: AddressRules): Standing {
  const host = hostOf(url);
  const isNamed = [ownOrigin, ...origins].some((text) => {
    const origin = originOf(text);
    return (
      origin !== undefined &&
      origin.protocol === url.protocol &&
      portOf(origin) === portOf(url) &&
      machineOf(hostOf(origin)) === machineOf(host)
    );
  });
  if (!isNamed) return 'public';
  return isLoopbackHost(host) ? 'loopback' : 'own';
}

/** A machine's usual names for itself count as one: servers write any of them. */
function machineOf(host: string): string {
  return host === '127.0.0.1' || host === '::1' ? 'localhost' : host;
}

function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopback(host);
}

function originOf(text: string | undefined): URL | undefined {
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** @param asked `host:port` */
function isAllowed(allowed: readonly string[], asked: string, literal: boolean): boolean {
  return allowed.some((entry) => {
    const lower = entry.toLowerCase();
    const full = /:\d+$/.test(lower) ? lower : `${lower}:443`;
    return full.startsWith('*.') ? !literal && asked.endsWith(full.slice(1)) : asked === full;
  });
}

/** Keeps the legal characters of RFC 3986 as written; encodes anything else by the URL standard. */
function pathOf(text: string, url: URL): string {
  if (!/^[\w.~:/?#[\]@!$&'()*+,;=%-]+$/.test(text)) return url.pathname + url.search;
  const written = text.replace(/^[a-z]+:\/\/[^/?#]+/i, '').replace(/#.*$/s, '');
  return written.startsWith('/') ? written : `/${written}`;
}

function hasUnsafeCharacters(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code <= 0x20 || code === 0x5c || code === 0x7f) return true;
  }
  return false;
}

function refused(reason: string, host?: string): Refusal {
  return host === undefined ? { kind: 'refused', reason } : { kind: 'refused', reason, host };
}

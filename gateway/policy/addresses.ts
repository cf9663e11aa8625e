import ipaddr from 'ipaddr.js';

/** Presigned URLs have one or two thousand characters; servers take heads of 8 to 16 KiB. */
const MAX_URL_CHARACTERS = 8192;

/** RFC 1035 §2.3.4. */
const MAX_NAME_CHARACTERS = 253;

/** What decides whether an address that a peer named may be asked. */
export interface AddressRules {
  /** `host` (at https's own port), `host:port`, or the same with `*.` in front. Undefined means every public one. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origin of the upstream that named the address. */
  readonly ownOrigin?: string | undefined;
  /** Further origins that the operator lets this upstream name. */
  readonly origins?: readonly string[] | undefined;
  /** Ports of this machine at which Wharf itself listens: its health, its metrics and its links are for others. */
  readonly ownPorts?: readonly number[] | undefined;
}

/**
 * What a target's addresses may be:
 * - `public`: public ones;
 * - `own`: private ones too, since the MCP connection goes to this host and port, or the operator has named them;
 * - `loopback`: loopback ones, for the same reason.
 */
export type Standing = 'public' | 'own' | 'loopback';

/** A URL that may be asked, taken apart. */
export interface Target {
  readonly secure: boolean;
  /** A lower-case name without a dot at its end, or a literal address without brackets. */
  readonly host: string;
  readonly literal: boolean;
  readonly port: number;
  /** As the Host header says it. */
  readonly authority: string;
  /** Path and query, byte for byte as they were written wherever that is legal: they may be signed. */
  readonly path: string;
  readonly standing: Standing;
  /** Wharf itself listens at this port, so that the host must not be this machine. */
  readonly isOwnPort: boolean;
}

export interface Refusal {
  readonly kind: 'refused';
  /** Public: nothing of the URL's path and query, and no address that a name stands for. */
  readonly reason: string;
  readonly host?: string;
  /** For the log. */
  readonly detail?: string;
}

/** Judges a URL before its name is resolved. Literal addresses are judged here, since nobody looks them up later. */
export function judgeUrl(text: string, rules: AddressRules): { kind: 'allowed'; target: Target } | Refusal {
  if (text.length > MAX_URL_CHARACTERS) return refused(`it is longer than ${MAX_URL_CHARACTERS} characters`);
  // URL parsers drop these or turn them into slashes, and not all of them do
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
  // the URL parser has brought every spelling of an IPv4 address (octal, short, full-width…) to four decimal numbers
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
 * Judges where a redirect leads. Only the same host and port may be asked, and never less safely than before: at another
 * port another service answers, which on loopback may be anybody's.
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
  // A full URL is judged as it is written: its path may be signed too.
  const judged = judgeUrl(/^https?:/i.test(location) ? location : next.href, rules);
  if (judged.kind === 'refused') return { ...judged, reason: `it redirects, and there ${judged.reason}` };
  if (judged.target.host !== from.host) return refused('it redirects to another host', from.authority);
  if (from.secure && !judged.target.secure) return refused('it redirects from https to http', from.authority);
  if (judged.target.port !== from.port) return refused('it redirects to another port', from.authority);
  return judged;
}

/** Judges what a name stands for. Every address counts, for which of them is used is not known beforehand. */
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

/** True for an address that anybody on the internet can have: no special range of IANA's, nothing that embeds IPv4. */
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
 * What a server inside may have. Not link-local: a name that suddenly stands for 169.254.169.254 means a cloud's
 * metadata service, which gives credentials away.
 */
const INNER: readonly string[] = ['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'];

function isPublicOrInner(address: string): boolean {
  return isPublic(address) || INNER.includes(rangeOf(address));
}

function isLoopback(address: string): boolean {
  return rangeOf(address) === 'loopback';
}

/** The name of the range; an IPv4 address inside an IPv6 one is taken out. */
function rangeOf(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).range() : 'malformed';
}

/** Scheme, host and port must agree: at another port of the same machine another service answers, perhaps anybody's. */
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

/** The usual names of this machine for itself are one: which of them a server writes is chance. */
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

/** Legal characters of RFC 3986 pass as they are; anything else as the URL standard encodes it. */
function pathOf(text: string, url: URL): string {
  if (!/^[\w.~:/?#[\]@!$&'()*+,;=%-]+$/.test(text)) return url.pathname + url.search;
  const written = text.replace(/^[a-z]+:\/\/[^/?#]+/i, '').replace(/#.*$/, '');
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

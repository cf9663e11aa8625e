import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { GatewayError } from '../../errors.js';
import { LOGIN_DOCUMENTS } from '../../identity/resource.js';

/** Names of this machine for itself. A foreign page cannot make a browser send them as Host. */
const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Characters of a refused Host or Origin that its error repeats. */
const MAX_SHOWN = 100;

/**
 * A step within a path, as the router and every browser read it. What is checked by the beginning of a path would be
 * checked of another path than the one that answers.
 */
const STEP = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

const TARGET =
  'its target must be a path, or an http URL without a user, and have no step . or .. and no \\ or # in it';

export interface GuardSettings {
  /** `host` or `host:port`, lower case; they pass on the port they name, or on any port. */
  allowedHosts: readonly string[];
  /** Serialized origins. */
  allowedOrigins: readonly string[];
  /** Allows web pages that this machine serves at any port; otherwise only those of this port. */
  trustsLoopbackPages: boolean;
  /** Whether pages of other sites that may call may also read the answers. Where they may not, they change nothing either. */
  isReadByPages: boolean;
  /**
   * Accepts every IP address as Host, for a port whose addresses are not known beforehand. A page that rebinds a name
   * sends that name as Host.
   */
  answersToAddresses: boolean;
}

/** The settings of the public port. */
export function guardSettings({
  allowedHosts,
  allowedOrigins,
  publicUrl,
}: Pick<GuardSettings, 'allowedHosts' | 'allowedOrigins'> & { publicUrl: string | undefined }): GuardSettings {
  const own = publicUrl === undefined ? [] : [new URL(publicUrl)];
  return {
    allowedHosts: [...allowedHosts, ...own.map(({ host }) => host)],
    allowedOrigins: [...allowedOrigins, ...own.map(({ origin }) => origin)],
    trustsLoopbackPages: publicUrl === undefined,
    isReadByPages: true,
    answersToAddresses: false,
  };
}

/**
 * Makes the function that refuses what must not reach a route: a foreign Host (DNS rebinding), a foreign Origin (a page
 * in a user's browser) unless it asks only where clients log in, and targets that two parsers could read in two ways. It
 * returns the origin of a page of another site that may read the answer.
 * @throws GatewayError `host_forbidden`, `origin_forbidden`, `request_invalid`
 */
export function createGuard(settings: GuardSettings): (request: IncomingMessage) => string | undefined {
  const hosts = new Set(settings.allowedHosts);
  const origins = new Set(settings.allowedOrigins);
  // a URL cannot have an address with a zone (`%eth0`)
  const isAddress = (host: string) =>
    settings.answersToAddresses && isIP(host.replace(/^\[|\]$/g, '')) !== 0 && URL.canParse(`http://${host}`);
  // nearly all requests name the one that the request before them has named
  let lastOwn: string | undefined;
  const isOwnHost = (given: string) => {
    if (given === lastOwn) return true;
    const host = given.toLowerCase();
    const name = hostName(host);
    const isOwn = hosts.has(host) || hosts.has(name) || LOOPBACK_NAMES.has(name) || isAddress(name);
    if (!isOwn) return false;
    if (!URL.canParse(`http://${host}`)) throw new GatewayError('request_invalid', { reason: portReason(given) });
    lastOwn = given;
    return true;
  };
  // scheme, host and port: a page at http:// or at another port of the same machine is another site
  const isOwnOrigin = (origin: string, host: string, port: number | undefined) => {
    if (origins.has(origin)) return true;
    const name = hostName(authorityOf(origin));
    if (LOOPBACK_NAMES.has(name))
      return settings.trustsLoopbackPages || origin === new URL(`http://${name}:${port}`).origin;
    return isAddress(name) && origin === `http://${host}`;
  };
  return (request) => {
    const target = request.url ?? '';
    if (!target.startsWith('/') || target.startsWith('//') || /[\\#]/.test(target) || STEP.test(target)) {
      throw new GatewayError('request_invalid', { reason: TARGET });
    }
    const { host, origin } = request.headers;
    // RFC 9112 §3.2. Node keeps the first of several; the proxy in front of us may have used another.
    const given = occurrences(request, 'host');
    if (host === undefined || given !== 1) {
      const headers = given === 0 ? 'no Host header' : `${given} Host headers`;
      throw new GatewayError('request_invalid', { reason: `it has ${headers}` });
    }
    if (!isOwnHost(host)) throw new GatewayError('host_forbidden', { host: shown(host) });
    // the router takes an IPv6 address only in the spelling of a URL
    if (host.startsWith('[') && URL.canParse(`http://${host}`)) request.headers.host = new URL(`http://${host}`).host;
    if (!settings.isReadByPages && isForeignForm(request))
      throw new GatewayError('origin_forbidden', { origin: shown(origin) });
    if (origin === undefined || LOGIN_DOCUMENTS.some((path) => target.startsWith(path))) return undefined;
    const isOwn = isOwnOrigin(origin.toLowerCase(), host.toLowerCase(), request.socket.localPort);
    if (occurrences(request, 'origin') > 1 || !isOwn) {
      throw new GatewayError('origin_forbidden', { origin: shown(origin) });
    }
    return settings.isReadByPages && !origin.toLowerCase().endsWith(`//${host.toLowerCase()}`) ? origin : undefined;
  };
}

/**
 * Whether a page of another site, or of another port of this machine, sends what may change something: it reads no answer,
 * and with a user's cookie it would not have to.
 */
function isForeignForm({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  const { host = '', origin = '', 'sec-fetch-site': site } = headers;
  if (site !== undefined) return site === 'same-site' || site === 'cross-site';
  // of an old browser: at another name or address of this machine another program may have the same port
  return LOOPBACK_NAMES.has(hostName(authorityOf(origin))) && authorityOf(origin) !== host.toLowerCase();
}

/** Host and port of an origin; empty for what is not an http(s) one. */
function authorityOf(origin: string): string {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1] ?? '';
}

/** How often a request names a header: Node joins or drops what is there twice. */
export function occurrences(request: IncomingMessage, name: string): number {
  let count = 0;
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const one = request.rawHeaders[at] as string;
    if (one.length === name.length && one.toLowerCase() === name) count += 1;
  }
  return count;
}

function hostName(host: string): string {
  return host.replace(/:\d+$/, '');
}

/** The router makes a URL of the Host, and would answer with an empty page where it cannot. */
function portReason(host: string): string {
  return `the port of the Host "${shown(host)}" is above 65535`;
}

/** A header in the form that an error may repeat. */
function shown(value: string | undefined): string {
  if (value === undefined || value === '') return '(none)';
  const short = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value;
  return short.replace(/[^\x21-\x7e…]/g, '?');
}

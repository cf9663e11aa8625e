import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.js';

/** Names of this machine for itself. A page from elsewhere cannot make a browser send them as Host. */
const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

export interface GuardSettings {
  /** `host` or `host:port`, lower case; they pass on the port they name, or on any. */
  allowedHosts: readonly string[];
  /** Serialized origins. */
  allowedOrigins: readonly string[];
}

/**
 * Refuses what must not reach any route: a foreign Host (DNS rebinding), a foreign Origin (a page in somebody's
 * browser), and targets that two parsers could read in two ways.
 * @throws GatewayError `host_forbidden`, `origin_forbidden`, `request_invalid`
 */
export function createGuard(settings: GuardSettings): (request: IncomingMessage) => void {
  const hosts = new Set(settings.allowedHosts);
  const origins = new Set(settings.allowedOrigins);
  const isOwnHost = (host: string) =>
    hosts.has(host) || hosts.has(hostName(host)) || LOOPBACK_NAMES.has(hostName(host));
  const isOwnOrigin = (origin: string) => {
    if (origins.has(origin)) return true;
    const host = /^https?:\/\/([^/]+)$/.exec(origin)?.[1];
    return host !== undefined && isOwnHost(host);
  };
  return (request) => {
    const target = request.url ?? '';
    if (!target.startsWith('/') || target.startsWith('//') || /[\\#]/.test(target)) {
      throw new GatewayError('request_invalid', { reason: 'the request target must be a path' });
    }
    const { host, origin } = request.headers;
    // Node keeps the first of several; the server in front of us may have looked at another one
    if (host === undefined || occurrences(request, 'host') > 1 || !isOwnHost(host.toLowerCase())) {
      throw new GatewayError('host_forbidden');
    }
    if (origin !== undefined && (occurrences(request, 'origin') > 1 || !isOwnOrigin(origin.toLowerCase()))) {
      throw new GatewayError('origin_forbidden');
    }
  };
}

function occurrences(request: IncomingMessage, name: string): number {
  let count = 0;
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    if (request.rawHeaders[at]?.toLowerCase() === name) count += 1;
  }
  return count;
}

function hostName(host: string): string {
  return host.replace(/:\d+$/, '');
}

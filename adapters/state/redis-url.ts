const BEGINNING = /^rediss?:\/\//;

/** Redis has 16 databases, unless it is set up for more. */
const DATABASE = /^\/?\d{0,6}$/;

const UNQUOTED = 'is not a URL: in a user or a password write % as %25, # as %23, / as %2F, ? as %3F and @ as %40';

/**
 * What is wrong with a URL of Redis; undefined of one that can be used. It quotes nothing of it, which may be a password.
 * The library ends the process at a database that is not a number, and takes options from a query, among them those that
 * Wharf depends on.
 */
export function faultOfUrl(text: string): string | undefined {
  const [beginning] = BEGINNING.exec(text) ?? [];
  if (beginning === undefined) return 'must begin with redis:// or rediss:// (TLS)';
  const rest = text.slice(beginning.length);
  const at = rest.lastIndexOf('@');
  if (/[/?#]/.test(rest.slice(0, Math.max(0, at)))) return UNQUOTED;
  const [hosts = ''] = rest.slice(at + 1).split(/[/?#]/);
  if (hosts === '') return 'must name a host';
  if (hosts.includes(',')) return 'must name one Redis: Wharf takes no list of hosts';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return 'must be redis[s]://[user:password@]host[:port][/database]';
  if (!isDecodable(url)) return UNQUOTED;
  if (/[?#]/.test(rest)) return 'must end with the database: nothing may stand behind ? or #';
  if (!DATABASE.test(url.pathname)) return 'must end with the number of a database, such as /0, or without one';
  return undefined;
}

/** How a connection fails whose other end waits for plain text, or does not know what it reads. */
const NOT_TLS =
  /ETIMEDOUT|did not answer|EPROTO|ECONNRESET|was closed|secure TLS connection|wrong version|packet length/i;

/** How it fails where the other end waits for TLS. */
const NOT_PLAIN = /ECONNRESET|was closed/i;

/**
 * Why a Redis that was never reached may be another one than its URL says: without TLS, or with it. Neither end tells it
 * the other.
 * @param why what the connection failed of
 * @returns '' or what follows that
 */
export function adviceOnTls(url: string, why: string): string {
  if (url.startsWith('rediss:'))
    return NOT_TLS.test(why) ? '; a Redis without TLS answers so to rediss:// in state.url, and takes redis://' : '';
  return NOT_PLAIN.test(why) ? '; a Redis with TLS answers so to redis:// in state.url, and takes rediss://' : '';
}

/** Not as a URL, in which the log would blot it out. */
const NONE =
  'This Redis asks for a password, and state.url has none: write it before the host, as :PASSWORD@ or USER:PASSWORD@.';
const CORRECT = 'Correct the user and the password in state.url, and restart Wharf.';

/**
 * What to do about a Redis that does not let Wharf in; undefined where it fails of something else. Redis's own words name
 * neither the setting nor what is wrong with it.
 * @param why its answer, with a full stop at its end or without one
 */
export function adviceOnLogin(url: string, why: string): string | undefined {
  if (why.startsWith('NOAUTH ')) return new URL(url).password !== '' ? CORRECT : NONE;
  return why.startsWith('WRONGPASS ') ? CORRECT : undefined;
}

/** The library decodes both, and throws where it cannot. */
function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

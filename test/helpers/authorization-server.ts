import { type PrintingProcess, startPrinting } from './printing-process.js';

/** Redirects of one login. */
const MOST_REDIRECTS = 20;

export type AuthorizationServer = PrintingProcess;

/**
 * Starts oidc-provider as a process of its own: its user always agrees. @param documents client ID metadata documents
 * by address, @param clients known beforehand, @param exchanged issuers whose tokens it exchanges
 */
export function startAuthorizationServer(
  documents: Record<string, object> = {},
  clients: readonly object[] = [],
  exchanged: readonly string[] = [],
): Promise<AuthorizationServer> {
  const given = { CLIENT_DOCUMENTS: documents, CLIENTS: clients, EXCHANGED: exchanged };
  const texts = Object.entries(given).map(([name, value]) => [name, JSON.stringify(value)]);
  return startPrinting('authorization-server.fixture.mjs', [], Object.fromEntries(texts));
}

/** A browser without a screen: follows a login to the redirect that leaves the given place, and returns its address. */
export async function followLogin(start: URL | string, until: string): Promise<URL> {
  const jars = new Map<string, Map<string, string>>();
  let at = new URL(start);
  for (let count = 0; count < MOST_REDIRECTS; count++) {
    if (at.href.startsWith(until)) return at;
    const jar = jars.get(at.origin) ?? new Map<string, string>();
    jars.set(at.origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(at, { redirect: 'manual', headers: cookie ? { cookie } : {} });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      jar.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`${at.href}: ${answer.status} ${await answer.text()}`);
    at = new URL(location, at);
  }
  throw new Error('the login goes round in circles');
}

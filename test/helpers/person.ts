import { followLogin } from './authorization-server.js';

/** What a person's browser has after it has opened the link of a login. */
interface OpenedLogin {
  status: number;
  text: string;
  /** Where the page sends it to log in. */
  href: string;
  cookie: string;
}

/** The link of a login in an answer; empty without one. */
export function linkIn(text: string): string {
  return /https?:\/\/[^\s"\\]+\/oauth\/login\/[\w-]{43}/.exec(text)?.[0] ?? '';
}

/** A person opens the link. */
export async function openLogin(link: string): Promise<OpenedLogin> {
  const page = await fetch(link, { headers: { accept: 'text/html' } });
  const text = await page.text();
  const href = (/href="([^"]+)" rel="noreferrer"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');
  return { status: page.status, text, href, cookie: page.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

/** A person reads the page of the link, logs in, and ends at Wharf's own page. @param cookie of another browser */
export async function logIn(link: string, cookie?: string): Promise<{ status: number; text: string }> {
  const opened = await openLogin(link);
  const back = await followLogin(opened.href, `${new URL(link).origin}/oauth/callback`);
  return comeBack(back, cookie ?? opened.cookie);
}

/** The browser comes back from the authorization server. */
export async function comeBack(back: URL | string, cookie: string): Promise<{ status: number; text: string }> {
  const end = await fetch(back, { headers: { cookie, accept: 'text/html' } });
  return { status: end.status, text: await end.text() };
}

import type { IncomingMessage } from 'node:http';
import type { Proof } from '../files/tickets/upload-code.js';
import { malformed } from './multipart-head.js';
import { wholeText } from './short-body.js';

/** Header in which a program gives the code of a link: an address is written to logs, a header is not. */
const CODE_HEADER = 'wharf-code';

/** Parameter of the address to which the page's form sends the code, so that it cannot be taken for a file. */
export const UNLOCK = 'unlock';

/** Parameter of the address to which the right code leads, where it turns out whether the browser keeps cookies. */
export const UNLOCKED = 'unlocked';

/** Field of that form. */
export const CODE_FIELD = 'code';

/** Bytes of such a form. */
const MAX_FORM = 1024;

/** Characters of what may be a code. */
const MAX_CODE = 64;

/** What a request proves with that it may use the link to this file. */
export function proofIn({ headers }: Pick<IncomingMessage, 'headers'>, fileId: string): Proof {
  const code = headers[CODE_HEADER];
  const cookies = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const name = `${cookieOf(fileId)}=`;
  const pass = cookies.find((pair) => pair.startsWith(name))?.slice(name.length);
  return { pass, ...(typeof code === 'string' && { code: code.slice(0, MAX_CODE) }) };
}

/** `Set-Cookie` for a browser whose person has given the code. Cookies go to every page below `/u/`: the name tells them apart. */
export function passCookie(fileId: string, pass: string, seconds: number, isSecure: boolean): string {
  const age = Math.max(1, Math.ceil(seconds));
  return `${cookieOf(fileId)}=${pass}; Max-Age=${age}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

/** The code in a form. @throws GatewayError `upload_malformed` */
export async function codeInForm(bytes: AsyncIterable<Buffer>): Promise<string> {
  const form = await wholeText(bytes, MAX_FORM, () => malformed('a code is much shorter'));
  return new URLSearchParams(form).get(CODE_FIELD)?.slice(0, MAX_CODE) ?? '';
}

function cookieOf(fileId: string): string {
  return `wharf-${fileId}`;
}

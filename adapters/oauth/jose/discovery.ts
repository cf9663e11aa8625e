import { faultIn, type HttpJson, UnusableAnswer } from './http-json.js';

/** What an authorization server says of itself (RFC 8414 §2). */
export type ServerMetadata = Readonly<Record<string, unknown>> & { readonly issuer: string };

/** An authorization server has answered, and what it says of itself cannot be used. */
export class UnusableMetadata extends Error {
  override readonly name = 'UnusableMetadata';
}

/** Characters of an address in it: a browser is sent to one, with some 3000 characters more. */
const LONGEST_URL = 4096;

/** Where its metadata may be: RFC 8414 §3.1 first, then OpenID Connect's place in both spellings. */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(urls)];
}

/**
 * Asks an authorization server for its metadata.
 * @throws UnusableMetadata, or Error where it does not answer, when none of its places has a document that names this very issuer (RFC 8414 §3.3)
 */
export async function discover(issuer: string, http: HttpJson): Promise<ServerMetadata> {
  const faults: string[] = [];
  let hasAnswered = false;
  let last: unknown;
  for (const url of metadataUrls(issuer)) {
    try {
      const { status, body } = await http.get(url);
      hasAnswered = true;
      if (status === 200 && body?.issuer === issuer) return body as ServerMetadata;
      faults.push(`${url}: ${status === 200 ? 'it names another issuer' : `HTTP ${status}`}`);
    } catch (error) {
      if (error instanceof UnusableAnswer) hasAnswered = true;
      last = error;
      faults.push(`${url}: ${faultIn(error)}`);
    }
  }
  const text = `no metadata of ${issuer}: ${faults.join('; ')}`;
  throw hasAnswered ? new UnusableMetadata(text) : new Error(text, { cause: last });
}

/**
 * An address of the metadata, if Wharf may use it: never weaker than the issuer's own scheme.
 * @throws UnusableMetadata
 */
export function endpointIn(metadata: ServerMetadata, name: string): string {
  const value = metadata[name];
  const isUsed = typeof value === 'string' && value.length <= LONGEST_URL && URL.canParse(value);
  if (isUsed && isPlain(new URL(value)) && isSecure(new URL(value), metadata.issuer)) return value;
  throw new UnusableMetadata(`the metadata of ${metadata.issuer} has no usable ${name}`);
}

/** RFC 6749 §3.1: without a fragment. A name before the host would only look like one. */
function isPlain({ username, password, hash }: URL): boolean {
  return username + password + hash === '';
}

function isSecure({ protocol }: URL, issuer: string): boolean {
  return protocol === 'https:' || (protocol === 'http:' && new URL(issuer).protocol === 'http:');
}

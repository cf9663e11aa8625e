import type { HttpJson } from './http-json.js';

/** What an authorization server says of itself (RFC 8414 §2). */
export type ServerMetadata = Readonly<Record<string, unknown>> & { readonly issuer: string };

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
 * @throws Error when none of its places has a document that names this very issuer (RFC 8414 §3.3)
 */
export async function discover(issuer: string, http: HttpJson): Promise<ServerMetadata> {
  const faults: string[] = [];
  for (const url of metadataUrls(issuer)) {
    try {
      const { status, body } = await http.get(url);
      if (status === 200 && body?.issuer === issuer) return body as ServerMetadata;
      faults.push(`${url}: ${status === 200 ? 'it names another issuer' : `HTTP ${status}`}`);
    } catch (error) {
      faults.push(`${url}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(`no metadata of ${issuer}: ${faults.join('; ')}`);
}

/**
 * An address of the metadata, if Wharf may use it: never weaker than the issuer's own scheme.
 * @throws Error
 */
export function endpointIn(metadata: ServerMetadata, name: string): string {
  const value = metadata[name];
  const isSecure = (url: string) => new URL(url).protocol === 'https:' || new URL(metadata.issuer).protocol === 'http:';
  if (typeof value === 'string' && URL.canParse(value) && /^https?:/.test(value) && isSecure(value)) return value;
  throw new Error(`the metadata of ${metadata.issuer} has no usable ${name}`);
}

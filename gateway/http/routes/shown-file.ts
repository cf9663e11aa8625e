/**
 * The policy of a file that a browser shows in its tab: no script, no form, nothing loaded, no frame around it. Browsers
 * build a page of their own around an image or a text, and style it.
 */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

const SANDBOXED = `${POLICY}; sandbox`;

/** The page around a sound or a video loads it again: from its own origin, which it has only with `allow-same-origin`. */
const MEDIA = `${POLICY}; media-src 'self'; sandbox allow-same-origin`;

/** The further headers of an answer with these headers, if it is shown in the tab. */
export function shownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { 'content-disposition': disposition, 'content-type': type = '' } = headers;
  if (!disposition?.startsWith('inline')) return {};
  return { 'content-security-policy': policyOf(type) };
}

function policyOf(type: string): string {
  // some viewers of PDFs are pages with a script, which a sandbox would stop; the document has no script of the origin
  if (type === 'application/pdf') return POLICY;
  return /^(?:audio|video)\//.test(type) ? MEDIA : SANDBOXED;
}

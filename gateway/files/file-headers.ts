/**
 * Headers of every response that carries bytes or text a peer chose. A downloaded file must not run in a browser with
 * this origin's rights, whatever it is: no sniffing, no script, no frame, no cache that another user could read, and
 * no link in a Referer (the link is the right to the file).
 */
export const FILE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

import { z } from 'zod';

/** RFC 9110 §5.1: a field name is a token. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** RFC 9110 §5.5 without line breaks and NUL, which would let a value end the head. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Framing, and what the connection itself decides. A value from the config would break or lie about the message. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** True for a header that only this hop may set (lower-case name). */
export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name);
}

function checkUrl(value: string, report: (message: string) => void): void {
  if (!URL.canParse(value)) return;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') report('must not hold credentials; use headers.Authorization');
  if (url.hash !== '') report('must not have a fragment');
}

/** Both HTTP transports take the same settings, so that a probed server needs no decision by its operator. */
export const httpSettings = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .superRefine((value, context) => checkUrl(value, (message) => context.addIssue({ code: 'custom', message })))
    .describe('Address of the MCP endpoint: the one a client would be given.'),
  headers: z
    .record(
      z
        .string()
        .regex(TOKEN, 'must be a header name')
        .refine((name) => !isOwnHeader(name.toLowerCase()), 'is set by Wharf itself'),
      z.string().regex(FIELD_VALUE, 'must not hold control characters'),
    )
    .default({})
    .describe("Headers sent with every request, such as the server's own credentials. Nobody else's are forwarded."),
});

export type HttpSettings = z.output<typeof httpSettings>;

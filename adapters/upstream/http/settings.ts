import { z } from 'zod';
import { FIELD_NAME, FIELD_VALUE } from '../../http/fields.js';

/** Framing, and headers of the connection itself. A configured value would break the message or lie about it. */
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

/** MCP's headers that differ from request to request. A configured session would be one for all callers. */
const OF_ONE_REQUEST = /^(?:last-event-id|mcp-(?:session-id|method|name|param-.*))$/;

/** True for a header that only this hop may set (lower-case name). */
export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name);
}

function isSetByWharf(name: string): boolean {
  return isOwnHeader(name) || OF_ONE_REQUEST.test(name);
}

function checkUrl(value: string, report: (message: string) => void): void {
  if (!URL.canParse(value)) return;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') report('must not hold credentials; use headers.Authorization');
  if (url.hash !== '') report('must not have a fragment');
}

/** Both HTTP transports have the same settings, so that the operator need not decide for a probed server. */
export const httpSettings = z.strictObject({
  url: z
    .url({
      protocol: /^https?$/,
      // such as localhost:3001/mcp
      error: ({ input }) =>
        typeof input === 'string' && /^[\w.-]+(?::\d+)?(?:\/|$)/.test(input)
          ? 'must be a URL that begins with http:// or https://'
          : 'must be an http:// or https:// URL',
    })
    .superRefine((value, context) => checkUrl(value, (message) => context.addIssue({ code: 'custom', message })))
    .describe('URL of the MCP endpoint, as for a client.'),
  headers: z
    .record(
      z
        .string()
        .regex(FIELD_NAME, 'must be a header name')
        .refine((name) => !isSetByWharf(name.toLowerCase()), 'is set by Wharf itself'),
      z.string().regex(FIELD_VALUE, 'must not hold control characters'),
    )
    .default({})
    .describe(
      "Headers sent with every request, such as the server's own credentials. Credentials of callers are never forwarded.",
    ),
});

export type HttpSettings = z.output<typeof httpSettings>;

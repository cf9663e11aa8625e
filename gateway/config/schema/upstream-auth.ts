import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { issuerUrl } from './jwt.js';

/** RFC 9110 §5.1: a field name is a token; `_` is left out, because servers cannot tell it from `-` (CGI). */
const HEADER = /^[!#$%&'*+.^`|~0-9A-Za-z-]{1,100}$/;

/**
 * Headers that are not the operator's to set here: framing, which would be left out, and those that clients may send on,
 * which would be a client's own word wherever its caller has no such fact.
 */
const TAKEN =
  /^(?:authorization|cookie|host|(?:proxy-)?connection|keep-alive|content-.*|transfer-encoding|te|trailer|upgrade|expect|mcp-.*|accept.*|last-event-id|traceparent|tracestate|baggage)$/i;

const SECRET = z.string().min(1).max(4096);

const NO_KEY = 'must be a private key in PEM (PKCS #8)';

function isPrivateKey(text: string): boolean {
  try {
    return createPrivateKey(text).type === 'private';
  } catch {
    return false;
  }
}

/** Least bits of an RSA key (RFC 7518 §3.3). */
const LEAST_RSA = 2048;

const CURVES = { ES256: 'ec prime256v1', EdDSA: 'ed25519' } as const;

interface Signing {
  privateKey?: string | undefined;
  algorithm?: 'ES256' | 'RS256' | 'PS256' | 'EdDSA' | undefined;
}

/** Whether a key can sign by an algorithm: one that cannot would fail at the first request of a client. */
function canSign({ privateKey, algorithm = 'ES256' }: Signing): boolean {
  // a text that does not hold a key has a message of its own
  if (privateKey === undefined || !isPrivateKey(privateKey)) return true;
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = createPrivateKey(privateKey);
  const { namedCurve, modulusLength = 0 } = details;
  if (algorithm === 'RS256' || algorithm === 'PS256') return type === 'rsa' && modulusLength >= LEAST_RSA;
  return [type, namedCurve].filter((part) => part !== undefined).join(' ') === CURVES[algorithm];
}

const SIGNS = {
  error:
    'must be a key for `algorithm`: P-256 for ES256, which is the default, Ed25519 for EdDSA, ' +
    `RSA of ${LEAST_RSA} bits or more for RS256 and PS256`,
  path: ['privateKey'],
};

/** How Wharf is known to an authorization server. */
const client = () => ({
  issuer: issuerUrl().optional().describe('The authorization server; its metadata names the endpoints (RFC 8414).'),
  tokenUrl: issuerUrl().optional().describe('Its token endpoint, instead of `issuer`.'),
  clientId: z.string().min(1).max(1000).describe("Wharf's name there."),
  clientSecret: SECRET.optional().describe("Wharf's secret there."),
  privateKey: z
    .string()
    .startsWith('-----BEGIN PRIVATE KEY-----', { error: NO_KEY, abort: true })
    .max(10_000)
    .refine(isPrivateKey, { error: NO_KEY })
    .optional()
    .describe('A private key in PEM instead of a secret (RFC 7523).'),
  algorithm: z.enum(['ES256', 'RS256', 'PS256', 'EdDSA']).optional().describe('Of `privateKey`. Default: `ES256`.'),
  secretBy: z.enum(['basic', 'body']).default('basic').describe('How the secret is sent.'),
});

/** What the token is for. */
const target = () => ({
  scope: z.string().min(1).max(2000).optional().describe('Scopes to ask for, with blanks between them.'),
  resource: z.url().optional().describe('What the token is for (RFC 8707).'),
  audience: z.string().min(1).max(1000).optional().describe('The same, for servers that call it so.'),
});

/** A grant that needs no person. */
const grant = () =>
  z
    .strictObject({ ...client(), ...target() })
    .refine(canSign, SIGNS)
    .refine(({ issuer, tokenUrl }) => issuer !== undefined || tokenUrl !== undefined, {
      error: 'needs "issuer" or "tokenUrl"',
    });

/** `servers.X.upstreamAuth` */
export function upstreamAuthSchema() {
  return z
    .strictObject({
      clientCredentials: grant()
        .optional()
        .describe("A token of Wharf's own, the same for all callers (OAuth client credentials)."),
      tokenExchange: grant()
        .optional()
        .describe("The caller's token, exchanged for one for this server (RFC 8693). Needs `auth: jwt`."),
      perUser: z
        .strictObject({
          ...client(),
          issuer: issuerUrl().describe('The authorization server; its metadata names the endpoints (RFC 8414).'),
          clientId: z
            .string()
            .min(1)
            .max(1000)
            .optional()
            .describe(
              "Wharf's name there. Default: the address of a document about Wharf, where the authorization server reads such " +
                'documents (client ID metadata documents), else what it gets by registering itself (RFC 7591); both need ' +
                '`publicUrl`. Its redirect URI is `publicUrl` and `/oauth/callback`.',
            ),
          ...target(),
        })
        .refine(canSign, SIGNS)
        .optional()
        .describe(
          "Each person's own login at the server's authorization server. Who lacks one is sent to a page, or gets the link " +
            'in the answer.',
        ),
      delegate: z
        .literal(true)
        .optional()
        .describe(
          "The caller's own `Authorization`, unread and of any scheme. Wharf's key then comes in `X-Wharf-Key`; a request with one " +
            'credential alone has only that of Wharf. Needs `auth: apiKeys`.',
        ),
      identityHeaders: z
        .record(
          z
            .string()
            .regex(HEADER, { error: 'must be a header name without "_"' })
            .refine((name) => !TAKEN.test(name), { error: 'is set by Wharf itself' }),
          z.string().regex(/^(?:principal|key|groups|scopes|claims\.\S{1,200})$/, {
            error: 'must be principal, key, groups, scopes or claims.NAME',
          }),
        )
        .optional()
        .describe(
          'Headers that say who calls: `{ X-User: principal, X-Groups: groups, X-Mail: claims.email }`. One that would have ' +
            'more than 4 KiB is left out.',
        ),
    })
    .superRefine((auth, context) => {
      const modes = (['clientCredentials', 'tokenExchange', 'perUser', 'delegate'] as const).filter(
        (mode) => auth[mode] !== undefined,
      );
      if (modes.length > 1)
        context.addIssue({
          code: 'custom',
          message: `has ${modes.join(' and ')}; a server gets one kind of credentials`,
        });
    });
}

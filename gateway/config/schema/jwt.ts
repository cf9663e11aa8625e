import { z } from 'zod';
import { size, time } from './fields.js';

/** Signatures that a public key verifies. `none` and those of shared secrets cannot be chosen. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const;

const DEFAULT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** RFC 6749 §3.3: a scope needs no escape inside quotes. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/** Between the issuer and the name of a caller. In an issuer it would let one issuer name the callers of another. */
const NAME_SEPARATOR = '|';

const scope = () => z.string().regex(SCOPE, { error: 'must be a scope: 1 to 200 printable characters without blanks' });

/** An address of an authorization server; http only on this machine. */
export function issuerUrl() {
  return z
    .string()
    .refine(isSecure, {
      error: 'must be an https:// URL without query and fragment; http:// only for a loopback address',
    })
    .refine((text) => !text.includes(NAME_SEPARATOR), {
      error: `must not contain "${NAME_SEPARATOR}", which no URL may (RFC 3986 §2): a caller is the issuer, "${NAME_SEPARATOR}" and a name`,
    });
}

/** `auth.jwt` */
export function jwtSchema() {
  const issuer = z.strictObject({
    issuer: issuerUrl().describe(
      'The issuer, byte for byte as in the claim `iss`. Its keys are found by its metadata (RFC 8414, else OpenID Connect).',
    ),
    jwksUri: issuerUrl().optional().describe('Where its keys are, if its metadata does not say it.'),
    audiences: z
      .array(z.string().min(1).max(1000))
      .max(20)
      .default([])
      .describe(
        'Audiences to take besides the URL of the server that is called. Only for issuers that cannot name it in a ' +
          'token (no RFC 8707): such a token opens every server of this gateway.',
      ),
    algorithms: z
      .array(z.enum(ALGORITHMS))
      .min(1)
      .default(DEFAULT_ALGORITHMS as (typeof ALGORITHMS)[number][])
      .describe('Algorithms of signatures that are taken.'),
  });
  const claim = () => z.string().min(1).max(200);
  return z
    .strictObject({
      issuers: z
        .array(issuer)
        .min(1, { error: 'must hold at least one issuer' })
        .max(20)
        .describe('The authorization servers whose tokens are taken.'),
      resource: z
        .enum(['perServer', 'gateway'])
        .default('perServer')
        .describe(
          'What a token is for. `perServer`: one server, by its URL. `gateway`: all of them, by `publicUrl`; then each ' +
            'server sees that one login opens the others.',
        ),
      scopes: z
        .record(
          z.string().regex(/^(?:\*|[a-z0-9-]{1,64})(?:\.[^\s.][^\s]{0,199})?$/, {
            error: 'must be "*", a server, or SERVER.TOOL, where "*" in TOOL is any text',
          }),
          z.array(scope()).max(100),
        )
        .default({})
        .describe(
          "Scopes that a request needs: by `*`, by server, and further ones by `SERVER.TOOL`, by the server's own names.",
        ),
      implies: z
        .record(scope(), z.array(scope()).max(100))
        .default({})
        .describe('Scopes that include others: `{ "hr:admin": ["hr:read", "hr:write"] }`.'),
      challenge: z
        .enum(['all', 'minimal'])
        .default('all')
        .describe(
          'Scopes that a client is told to ask for at first. `all`: those of the server and of its tools. `minimal`: ' +
            "those of the server; a tool's own are asked for when it is called.",
        ),
      principal: claim().default('sub').describe('The claim that names the caller, who is the issuer and this name.'),
      groups: claim().default('groups').describe('The claim that lists the groups of a caller.'),
      clockTolerance: time({ min: 0, max: 600_000 }).prefault('60s').describe('How far the clocks may differ.'),
      maxTokenBytes: size({ min: 1024, max: 16 * 1024 })
        .prefault('16KiB')
        .describe('The longest token. The head of a request is 16 KiB long at most.'),
      typ: z
        .enum(['any', 'at+jwt'])
        .default('any')
        .describe('`at+jwt`: only tokens whose header says that they are access tokens (RFC 9068).'),
    })
    .superRefine(({ issuers }, context) => {
      const seen = new Set<string>();
      for (const [index, { issuer: name }] of issuers.entries()) {
        if (seen.has(name))
          context.addIssue({ code: 'custom', path: ['issuers', index, 'issuer'], message: 'is listed twice' });
        seen.add(name);
      }
    })
    .describe('Callers with access tokens (OAuth 2.1).');
}

function isSecure(text: string): boolean {
  if (!URL.canParse(text) || /[?#\s"\\]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username + password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname));
}

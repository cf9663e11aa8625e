import { createHash } from 'node:crypto';
import { z } from 'zod';
import { patterns, toolPatterns } from './access.js';
import { callerLimitsSchema } from './callers.js';
import { ownerName } from './fields.js';
import { jwtSchema } from './jwt.js';
import { whileInMemory } from './while-in-memory.js';

/** SHA-256 of a key, in the spelling of `sha256sum` or in base64url. */
const HASH = /^sha256:(?:[0-9A-Fa-f]{64}|[A-Za-z0-9_-]{43})$/;

const USES = 'none, apiKeys, jwt, passthrough or [apiKeys, jwt]';

/** The hash of an empty key: the variable that should hold the key was not set. */
const OF_NOTHING = createHash('sha256').digest('hex');

/** `auth`: the callers that are allowed, as one schema for the reference. */
export function authSchema() {
  const { one, both } = authSchemas(EVERY_LIST);
  return z.union([one(), both()]);
}

/** The schema for `auth` as written: a list in `use` means both ways in. */
export function authSchemaFor(written: unknown) {
  const { one, both } = authSchemas(EVERY_LIST);
  const use = typeof written === 'object' && written !== null && 'use' in written ? written.use : undefined;
  return Array.isArray(use) ? both() : one().prefault({ use: 'none' });
}

/** What `auth` may be does not depend on the adapters. */
const EVERY_LIST = {};
const authSchemas = whileInMemory(makeSchemas);

/** Of the two one is made: a config has the one or the other. */
function makeSchemas(_: object) {
  const none = z.strictObject({
    use: z.literal('none'),
    allowPublic: z
      .boolean()
      .default(false)
      .describe('Allow `listen` beyond loopback, where every caller that reaches the port is let in.'),
  });
  const key = z.strictObject({
    name: ownerName().describe("The name of the key's caller: files, links and sessions belong to this name."),
    hash: keyText(),
    servers: patterns()
      .optional()
      .describe(
        'The servers that the key reaches, by name: `web-*`. A pattern that begins with `!` takes away. Default: those ' +
          'that `tools` names, else every server.',
      ),
    limits: callerLimitsSchema()
      .optional()
      .describe('What the key may use, where that differs from `limits` and `callers`.'),
    tools: toolPatterns()
      .optional()
      .describe(
        "The tools that the key reaches, `SERVER.TOOL` by the server's own names: `hr.read_*`, `*.search`. A pattern that " +
          'begins with `!` takes away. `servers.X.allow` must allow them too. Default: every tool.',
      ),
  });
  const keys = () =>
    z
      .array(key)
      .min(1, { error: 'must hold at least one key' })
      .max(10_000)
      .superRefine((keys, context) => {
        const names = new Map<string, string>();
        for (const [index, { name, hash }] of keys.entries()) {
          // an invalid hash has been reported already
          const digest = HASH.test(hash) ? digestOf(hash).toString('hex') : String(index);
          const other = names.get(digest) ?? name;
          names.set(digest, other);
          if (other === name) continue;
          const message = `is also the hash of the key of "${other}"; a key is one caller's`;
          context.addIssue({ code: 'custom', path: [index, 'hash'], message });
        }
      })
      .transform((keys) => keys.map(({ hash, ...key }) => ({ ...key, digest: digestOf(hash) })))
      .describe('The keys. Two keys with one name belong to one caller, so a key can be replaced without a gap.');
  const apiKeys = z.strictObject({ use: z.literal('apiKeys'), keys: keys() });
  const jwt = z.strictObject({ use: z.literal('jwt'), jwt: jwtSchema() });
  const passthrough = z.strictObject({
    use: z.literal('passthrough'),
    passthrough: z
      .strictObject({
        resource: z
          .enum(['rewrite', 'verbatim'])
          .default('rewrite')
          .describe(
            "What clients are told to ask a token for. `rewrite`: Wharf's URL, which clients compare with the URL that they " +
              "call; the server must take tokens for it. `verbatim`: the server's own words, for a Wharf that has taken over " +
              "the server's public name.",
          ),
        serverUrl: z
          .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
          .optional()
          .describe("The URL by which the server's metadata names it. Default: `servers.X.url`."),
      })
      .prefault({})
      .describe('How the login of the server is passed through.'),
  });
  return {
    one: () => z.discriminatedUnion('use', [none, apiKeys, jwt, passthrough], { error: `must be ${USES}` }),
    both: () =>
      z
        .strictObject({
          use: z.tuple([z.literal('apiKeys'), z.literal('jwt')], { error: `must be ${USES}` }),
          keys: keys(),
          jwt: jwtSchema(),
        })
        .transform(({ use: _, ...rest }) => ({ use: 'both' as const, ...rest })),
  };
}

/** A key, as its hash in the config. */
function keyText() {
  return z
    .string()
    .regex(HASH, { error: 'must be sha256: and 64 hex digits; make it with: printf %s "$KEY" | sha256sum' })
    .refine((hash) => !HASH.test(hash) || digestOf(hash).toString('hex') !== OF_NOTHING, {
      error: 'is the hash of an empty key; was $KEY set when it was made?',
    })
    .describe(
      '`sha256:` and the SHA-256 of the key in hex, as `printf %s "$KEY" | sha256sum` prints it. `openssl rand ' +
        '-hex 32` makes a good key.',
    );
}

/** A key's hash in the config, parsed to its 32 bytes. */
export function keyHash() {
  return keyText().transform(digestOf);
}

function digestOf(hash: string): Buffer {
  const text = hash.slice('sha256:'.length);
  return Buffer.from(text, text.length === 64 ? 'hex' : 'base64url');
}

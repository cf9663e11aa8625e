import { z } from 'zod';
import type { Adapter, AdapterList } from '../adapter-list.js';
import type { Choice } from '../config.js';
import { authSchema } from './auth.js';
import { address, baseUrl, origin, parseAddress, time } from './fields.js';
import { limitsSchema, timeoutsSchema } from './limits.js';
import { clientsSchema, handoffSchema, uploadToolSchema } from './peers.js';

/** The one that needs nothing but a folder. */
export const DEFAULT_STORE = 'filesystem';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** As long as the HMAC that is made with it. */
const MIN_SECRET_BYTES = 32;

/** A SigV4 signature lives seven days at most. */
const LONGEST_LINK = 7 * DAY;

/**
 * Every top-level key but `servers`. Settings of adapters come in with the list, so that the core never names S3 or
 * Redis beyond the defaults.
 */
export function sectionSchemas(adapters: AdapterList) {
  return {
    listen: address('127.0.0.1:8080').describe('Where clients reach Wharf: HOST:PORT.'),
    publicUrl: baseUrl()
      .optional()
      .describe(
        'How clients reach Wharf from where they are; every link is made from it. ' +
          'May have a path (https://example.com/wharf), which the proxy in front takes off again before it passes a ' +
          'request on. Default: http:// and `listen`, as long as that is a loopback address.',
      ),
    adminListen: address('127.0.0.1:9090').describe(
      'Health and metrics: `/healthz`, `/readyz`, `/metrics`. A port of its own, never public by default.',
    ),
    adminAllowPublic: z
      .boolean()
      .default(false)
      .describe(
        'Allow `adminListen` beyond loopback, for kubelets and Prometheus. The admin port asks nobody for a key: the ' +
          'network must keep others away from it. `auth: { use: none, allowPublic: true }` allows it too.',
      ),
    gatewayId: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{0,62}$/, { error: 'must be 1 to 63 of a-z, 0-9, "." and "-"' })
      .default('wharf')
      .describe('Authority of the mcp-file:// handles; the same on every replica.'),
    objects: choice(adapters.objects, { use: DEFAULT_STORE }).describe('Where the bytes of files are kept.'),
    state: choice(adapters.state, { use: 'memory' }).describe(
      'Sessions, file records and links. `memory` is lost on a restart and is for one process.',
    ),
    thumbnails: choice(adapters.thumbnails, { use: 'sharp' }).describe('What renders the previews of images.'),
    links: z
      .strictObject({
        style: z
          .enum(['presigned', 'gateway'])
          .default('presigned')
          .describe(
            "`presigned`: the object store's own URL, where the store has such URLs (s3); it cannot be revoked. " +
              '`gateway`: a short link on publicUrl. Stores without URLs of their own always get gateway links.',
          ),
        ttl: time({ min: SECOND, max: LONGEST_LINK })
          .optional()
          .describe(
            'How long a link works. Default: 15m; where only this machine can reach Wharf (`listen` and `publicUrl` are ' +
              'loopback addresses), its own links work as long as their files are kept (`retention`). What a model is ' +
              'given to read is always a link of Wharf.',
          ),
      })
      .prefault({})
      .describe('The links that clients get.'),
    limits: limitsSchema()
      .prefault({})
      .describe(
        'Sizes and counts. An error that a limit causes has its name in `data.limit`; so has the line in the log.',
      ),
    timeouts: timeoutsSchema()
      .prefault({})
      .describe(
        'Times to wait. An error that a time-out causes has its name in `data.limit`; so has the line in the log.',
      ),
    retention: time({ min: SECOND, max: 365 * DAY })
      .prefault('24h')
      .describe(
        'How long a file lives after the last use that Wharf sees. Downloads by a presigned link are not seen. ' +
          'No link outlives it.',
      ),
    secret: secrets()
      .prefault([])
      .describe(
        'At least 32 bytes from a random source (`openssl rand -base64 48`), the same on every replica; or a list of ' +
          'them: the first signs, all are accepted, so that a new one can be put in front. Tickets and sessions are kept ' +
          'under keys made with it. Required unless state is in memory.',
      ),
    antivirus: z
      .strictObject({ use: z.literal('none', { error: 'must be none: this version has no other' }) })
      .prefault({ use: 'none' })
      .describe('What scans files before they are linked. `none`: nothing does.'),
    auth: authSchema()
      .prefault({ use: 'none' })
      .describe('Who may call. `none`: everybody, and all callers are one. `apiKeys`: `Authorization: Bearer KEY`.'),
    uploadTool: uploadToolSchema()
      .prefault({})
      .describe(
        'The two tools that Wharf adds to a server whose tools take files, so that a client that knows no way of its ' +
          'own can hand one over. A map of their names, or `off` for none.',
      ),
    handoff: handoffSchema()
      .default([])
      .describe(
        "Whether a file from one server's tool may be given to another server's tool. The first rule that matches " +
          'decides; where none does, it may.',
      ),
    clients: clientsSchema(adapters.dialects)
      .default([])
      .describe('Clients that speak a dialect without declaring it. The first entry whose `match` fits counts.'),
    allowedHosts: z
      .array(
        z.string().refine((text) => parseAddress(text.includes(':') ? text : `${text}:0`) !== undefined, {
          error: 'must be a host or HOST:PORT, without a scheme and without wildcards',
        }),
      )
      .max(100)
      .default([])
      .describe(
        "Further Host headers to answer to, on both ports. publicUrl's host and the loopback names always pass, and on " +
          'the admin port every IP address. A page at one of these names may call only if `allowedOrigins` lists it.',
      ),
    allowedOrigins: z
      .array(origin())
      .max(100)
      .default([])
      .describe(
        "Web pages that may call, by origin. publicUrl's own always may, and so may Wharf's own port on a loopback name; " +
          'without publicUrl every page of a loopback name may. Programs that send no Origin always may.',
      ),
    fetch: z
      .strictObject({
        allowedHosts: z
          .array(
            z.string().refine(isFetchHost, {
              error: 'must be a host, HOST:PORT or *.DOMAIN, without a scheme',
            }),
          )
          .max(100)
          .default([])
          .describe(
            'Hosts that the `download_url` of a client may name: `HOST` for port 443, `HOST:PORT` for any other port; ' +
              '`*.example.com` is every name below example.com. Empty means every public host. An address that is not ' +
              'public is refused in either case.',
          )
          // an empty list in the file is no list of no hosts
          .transform((hosts): readonly string[] | undefined => (hosts.length === 0 ? undefined : hosts)),
      })
      .prefault({})
      .describe('What Wharf downloads from addresses that clients name.'),
    logLevel: z
      .enum(['debug', 'info', 'warn', 'error'])
      .default('info')
      .describe(
        'The least important lines that are logged, as JSON lines on standard error. `error`: faults inside Wharf. ' +
          '`warn`: also what failed because of a server, a store or a client. `info`: also one line for each exchange ' +
          'and upload, and what stdio servers write to standard error. `debug`: also details for finding a fault.',
      ),
  };
}

export type Sections = {
  [Key in keyof ReturnType<typeof sectionSchemas>]: z.output<ReturnType<typeof sectionSchemas>[Key]>;
};

/** Unlike a Host header that is answered to, a name that is asked may stand for all names below it. */
function isFetchHost(text: string): boolean {
  const named = text.startsWith('*.') ? text.slice(2) : text;
  if (parseAddress(/:\d+$/.test(named) ? named : `${named}:443`) === undefined) return false;
  return named === text || /\.[a-z][a-z0-9-]*(?::\d+)?$/i.test(named);
}

/** One secret or a list; a list in either case once parsed. */
function secrets() {
  const one = z.string({ error: 'must be a string' }).refine((text) => Buffer.byteLength(text) >= MIN_SECRET_BYTES, {
    error: `must be at least ${MIN_SECRET_BYTES} bytes; make one with: openssl rand -base64 48`,
  });
  return z.union([one.transform((text) => [text]), z.array(one).max(10)], {
    error: `must be a secret of at least ${MIN_SECRET_BYTES} bytes, or a list of them`,
  });
}

/** `use:` and the settings of the adapter that it names. */
function choice<Port, Deps>(
  list: Readonly<Record<string, Adapter<Port, Deps>>>,
  byDefault: { use: string; [key: string]: string },
) {
  const options = Object.entries(list).map(([name, { settings }]) => settings.safeExtend({ use: z.literal(name) }));
  const [first, ...more] = options;
  if (first === undefined) throw new Error('a port needs at least one adapter');
  return z
    .discriminatedUnion('use', [first, ...more])
    .transform(({ use, ...settings }): Choice => ({ use: String(use), settings }))
    .prefault(byDefault as never);
}

import { z } from 'zod';
import { MEANS } from '../../policy/means.js';
import type { Adapter, AdapterList } from '../adapter-list.js';
import type { Choice } from '../config.js';
import { authSchema } from './auth.js';
import { callerLimitsSchema, callersSchema, limitsOfEachCaller } from './callers.js';
import { clientsSchema } from './clients.js';
import { consoleSchema } from './console.js';
import { address, baseUrl, origin, parseAddress, time } from './fields.js';
import { limitsSchema, timeoutsSchema } from './limits.js';
import { flowSchema, handoffSchema, uploadToolSchema } from './peers.js';
import { whileInMemory } from './while-in-memory.js';

/** The only store that needs nothing but a folder. */
export const DEFAULT_STORE = 'filesystem';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** The length of the HMAC that is made with it. */
const MIN_SECRET_BYTES = 32;

/** A SigV4 signature lives at most seven days. */
const LONGEST_LINK = 7 * DAY;

/** @see makeSchemas, which takes longer than all else that a config of a few lines needs */
export const sectionSchemas = whileInMemory(makeSchemas);

/**
 * Every top-level key except `servers`. Adapters bring their settings with the list, so that the core names S3 or Redis
 * only in defaults.
 */
function makeSchemas(adapters: AdapterList) {
  return {
    listen: address().prefault('127.0.0.1:8080').describe('Where clients reach Wharf: HOST:PORT.'),
    publicUrl: baseUrl()
      .optional()
      .describe(
        'The URL at which clients reach Wharf; every link begins with it. May have a path ' +
          '(https://example.com/wharf), which the proxy in front must remove before it passes a request on. ' +
          'Default: http:// and `listen`, if that is a loopback address.',
      ),
    adminListen: address()
      .optional()
      .describe(
        'Health and metrics: `/healthz`, `/readyz`, `/metrics`. A separate port, not public by default. Default: ' +
          '`127.0.0.1:9090`; none if `listen` is a loopback address, so that several Wharfs can run on one machine.',
      ),
    adminAllowPublic: z
      .boolean()
      .default(false)
      .describe(
        'Allow `adminListen` beyond loopback, for kubelets and Prometheus. The admin port does not ask for a key: ' +
          'the network must keep others away from it. `auth: { use: none, allowPublic: true }` allows it too.',
      ),
    console: consoleSchema()
      .prefault({})
      .describe('The pages on the admin port: what is wrong now, servers, sessions, refusals, the settings in force.'),
    gatewayId: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{0,62}$/, { error: 'must be 1 to 63 of a-z, 0-9, "." and "-"' })
      .default('wharf')
      .describe('Authority of the mcp-file:// handles; the same on every replica.'),
    objects: choice(adapters.objects, { use: DEFAULT_STORE }).describe('The store for the bytes of files.'),
    state: choice(adapters.state, { use: 'memory' }).describe(
      'Sessions, file records and links. `memory` is lost on a restart and is for one process.',
    ),
    previews: choice(adapters.previews, { use: 'local' }).describe(
      'What models and people see of a file that a result only links to.',
    ),
    audit: choice(adapters.audit, { use: 'none' }).describe(
      'Records decisions, one JSON line for each: who called what, and which file went where. `wharf audit verify FILE` ' +
        'finds a changed or missing line. `none`: nothing is recorded.',
    ),
    telemetry: choice(adapters.telemetry, { use: 'none' }).describe(
      'Where OpenTelemetry traces and metrics go, by its conventions for MCP. What this does not say, the standard ' +
        '`OTEL_*` environment variables do. `none`: nothing is recorded, and nothing of OpenTelemetry is loaded.',
    ),
    links: z
      .strictObject({
        style: z
          .enum(['presigned', 'gateway'])
          .default('presigned')
          .describe(
            "`presigned`: the object store's own URL, if the store has such URLs (s3); it cannot be revoked. " +
              '`gateway`: a short link on publicUrl. Stores without URLs of their own always get gateway links.',
          ),
        ttl: time({ min: SECOND, max: LONGEST_LINK })
          .optional()
          .describe(
            'How long a link works. Default: 15m; if only this machine can reach Wharf (`listen` and `publicUrl` are ' +
              "loopback addresses), Wharf's own links work as long as their files are kept (`retention`). A link in " +
              "text for a model is always Wharf's own.",
          ),
      })
      .prefault({})
      .describe('The links that clients get.'),
    limits: limitsSchema()
      .safeExtend(limitsOfEachCaller())
      .prefault({})
      .describe('Sizes and counts. An error caused by a limit names it in `data.limit`, and so does its log line.'),
    callers: callersSchema()
      .default([])
      .describe(
        'What some callers may use, where that differs from `limits`. Of each limit the first entry counts that means the ' +
          'caller and names the limit; `auth.keys[].limits` goes before it.',
      ),
    ceiling: callerLimitsSchema()
      .prefault({})
      .describe('Nothing raises a limit of a caller above its value here, and it holds where no other is set.'),
    timeouts: timeoutsSchema()
      .prefault({})
      .describe('Times to wait. An error caused by a time-out names it in `data.limit`, and so does its log line.'),
    retention: time({ min: SECOND, max: 365 * DAY })
      .prefault('24h')
      .describe(
        'How long a file is kept after the last use that Wharf sees, or up to a thousandth less. It does not see ' +
          'downloads by presigned links. A link never outlives it.',
      ),
    secret: secrets()
      .prefault([])
      .describe(
        'At least 32 bytes from a random source (`openssl rand -base64 48`), the same on every replica; or a list ' +
          'of them, of which the first signs and all are accepted. To replace a secret, put the new one first; with ' +
          'several replicas, only after all of them have it as the second one. Tickets and sessions are stored under ' +
          'keys made with it. Required unless state is in memory.',
      ),
    antivirus: choice(adapters.antivirus, { use: 'none' }).describe(
      'Scans every file before a client or a server gets it, short ones inside messages too; what is infected, or cannot ' +
        'be scanned, is refused. While the antivirus is away no file is taken. `none`: files are not scanned.',
    ),
    auth: authSchema()
      .prefault({ use: 'none' })
      .describe(
        'The callers that are allowed. `none`: every caller, and all are treated as one. `apiKeys`: callers with `Authorization: Bearer KEY`, or `X-Wharf-Key: KEY`. `jwt`: callers with access tokens of an authorization server, where MCP clients log in by themselves. `[apiKeys, jwt]`: both. `passthrough`: every caller, whose token the only server judges.',
      ),
    uploadTool: uploadToolSchema()
      .prefault({})
      .describe(
        'The two tools that Wharf adds to a server whose tools take files, for clients that cannot hand over a ' +
          'file in any other way. A map of their names, or `off` for neither.',
      ),
    flow: flowSchema()
      .default([])
      .describe(
        'Which file may go to which server: `deny`, `ask` or `allow`, each with what the rule means. The first that ' +
          'matches decides; without one a file may go. Rules hold for handles, links and uploads, and for the same bytes ' +
          'when they come back inside a call: Wharf knows them by their digest for 7 days, or `retention` if that is longer.',
      ),
    handoff: handoffSchema()
      .default([])
      .describe(
        "The old form of `flow`, which follows its rules: whether a file from one server's tool may be given to another " +
          "server's tool. The first rule that matches decides; without a match it may.",
      ),
    elicitation: z
      .strictObject({
        order: z
          .array(z.enum(MEANS))
          .max(MEANS.length)
          .default([...MEANS])
          .describe(
            'Ways to ask, the preferred one first. `binary`: the client uploads what its user has chosen (SEP-1306). ' +
              '`form`: a form with a field for the file (SEP-2356). `url`: the upload page. The first one that the ' +
              'client has declared is taken; with none of them the call is answered with an upload link.',
          ),
        rounds: z
          .int()
          .min(1)
          .max(100)
          .default(3)
          .describe('How often a user is asked when what was given is not a file that the tool takes.'),
        identity: z
          .enum(['auto', 'code', 'none'])
          .default('auto')
          .describe(
            'What an upload page asks for before it takes a file. `code`: the short code that is shown beside the link. ' +
              '`none`: nothing, the link is enough. `auto`: `code` where `auth` tells callers apart, else `none`.',
          ),
      })
      .prefault({})
      .describe('How a user is asked for a file that a tool call needs and does not have.'),
    clients: clientsSchema(adapters)
      .default([])
      .describe(
        'What clients are and do not declare: the dialects that they speak, how they ask their users, and what they ' +
          'show of results. The first entry whose `match` fits counts. `wharf explain --client NAME` says what a client gets, and why.',
      ),
    allowedHosts: z
      .array(
        z.string().refine((text) => parseAddress(text.includes(':') ? text : `${text}:0`) !== undefined, {
          error: 'must be a host or HOST:PORT, without a scheme and without wildcards',
        }),
      )
      .max(100)
      .default([])
      .describe(
        "Further Host headers to accept, on both ports. publicUrl's host and the loopback names always pass, and " +
          'on the admin port every IP address. A web page at one of these names may call only if `allowedOrigins` ' +
          'lists it.',
      ),
    allowedOrigins: z
      .array(origin())
      .max(100)
      .default([])
      .describe(
        "Web pages that may call and read the answers (CORS), by origin. publicUrl's own always may, and so may " +
          "Wharf's own port on a loopback name; without publicUrl every page of a loopback name may. Programs that " +
          'send no Origin always may. On the admin port pages of other origins read nothing and change nothing.',
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
            'Allowed hosts in the addresses of files: `HOST` for port 443, `HOST:PORT` for any other port; ' +
              '`*.example.com` is every name below example.com. Empty allows every public host. An address that is not ' +
              'public is always refused.',
          )
          // an empty list in the file means that every public host is allowed
          .transform((hosts): readonly string[] | undefined => (hosts.length === 0 ? undefined : hosts)),
      })
      .prefault({})
      .describe('Rules for downloads from addresses that clients name.'),
    logLevel: z
      .enum(['debug', 'info', 'warn', 'error'])
      .default('info')
      .describe(
        'The lowest level that is logged, as JSON lines on standard error. `error`: faults inside Wharf. `warn`: ' +
          'also failures of a server, a store or a client. `info`: also one line per exchange and upload, and the ' +
          'stderr output of stdio servers. `debug`: also details for finding a fault. A reload changes it.',
      ),
  };
}

export type Sections = {
  [Key in keyof ReturnType<typeof sectionSchemas>]: z.output<ReturnType<typeof sectionSchemas>[Key]>;
};

/** Unlike an accepted Host header, a host to fetch from may be a wildcard for all names below it. */
function isFetchHost(text: string): boolean {
  const named = text.startsWith('*.') ? text.slice(2) : text;
  if (parseAddress(/:\d+$/.test(named) ? named : `${named}:443`) === undefined) return false;
  return named === text || /\.[a-z][a-z0-9-]*(?::\d+)?$/i.test(named);
}

/** One secret or a list; always a list after parsing. */
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

import type { HeldBudget } from '../budget/held.js';
import type { Ledger } from '../budget/ledger.js';
import type { PartBudget } from '../budget/parts.js';
import type { Config } from '../config/config.js';
import { placeOf, settingsOf } from '../config/settings.js';
import type { FileControl } from '../files/control/control.js';
import type { IngestDeps } from '../files/ingest/ingest.js';
import type { Library } from '../files/library.js';
import { ConsoleLogins } from '../http/console/console-logins.js';
import type { Lately } from '../http/console/lately.js';
import type { EndpointDeps } from '../http/console/trying/gated-endpoint.js';
import { Trials } from '../http/console/trying/trials.js';
import type { Registered } from '../http/metrics.js';
import type { ConsoleDeps } from '../http/routes/console.js';
import type { Limits } from '../policy/limits.js';
import type { Audit } from '../ports/audit.js';
import type { Clock, Stopwatch } from '../ports/clock.js';
import type { Sessions } from '../relay/session.js';
import type { StateKeys } from '../secrets/state-keys.js';

interface Shown {
  config: Config;
  /** The config of now: a reload replaces it. */
  present: () => Config;
  /** Why the config's file says something else. */
  whyRefused: () => string | undefined;
  version: string;
  publicUrl: () => string;
  keys: StateKeys;
  clock: Clock & Stopwatch;
  sessions: Sessions;
  control: FileControl;
  audit: Audit;
  lately: Lately;
  metrics: Registered;
  held: HeldBudget;
  budget: PartBudget;
  waiting: Ledger;
  open: { count: number };
  /** What operators try tools with: the parts of every exchange, and those of files. */
  exchanges: Omit<EndpointDeps, 'servers' | 'isDraining'>;
  servers: EndpointDeps['servers'];
  isDraining: () => boolean;
  ingest: IngestDeps;
  library: Library;
  /** Those of now. */
  limits: Limits;
}

/** Why no operator can try a server's tools: it would have to act for a person who is not there. */
function whyNotTried({ auth, servers }: Config, name: string): string | undefined {
  if (auth.use === 'passthrough')
    return 'This server judges its callers by their own tokens (auth: passthrough), and an operator of the console has none, so its tools cannot be tried here.';
  const { perUser, tokenExchange, delegate } = servers.find((one) => one.name === name)?.upstreamAuth ?? {};
  if (perUser)
    return 'Each person logs in at this server with an account of their own (upstreamAuth.perUser), so its tools cannot be tried here.';
  if (tokenExchange || delegate)
    return `This server is given its callers' own tokens (upstreamAuth.${tokenExchange ? 'tokenExchange' : 'delegate'}), and an operator of the console has none, so its tools cannot be tried here.`;
  return undefined;
}

/** Where the console reads what it shows, and who may look at it. */
export function consoleParts({ config, sessions, metrics, lately, exchanges, ...shown }: Shown): ConsoleDeps {
  const { timeouts } = config;
  const { servers, isDraining, ingest, library, present, limits } = shown;
  const { users } = config.console;
  const { held, budget, waiting, open } = shown;
  const deps = { ...exchanges, servers, isDraining, timeouts, version: shown.version };
  return {
    trying: {
      trials: new Trials({ ...deps, whyNot: (server) => whyNotTried(present(), server) }),
      form: { ...exchanges, ingest, library, timeouts, limits },
      asksKey: () => present().auth.use !== 'none',
    },
    logins: users.length === 0 ? undefined : new ConsoleLogins(users, { seal: shown.keys.seal, ...shown }),
    sources: {
      version: shown.version,
      gatewayId: config.gatewayId,
      publicUrl: shown.publicUrl,
      startedAt: shown.clock.now(),
      whyRefused: shown.whyRefused,
      now: () => [
        { name: 'exchanges', value: open.count, unit: 'count' },
        { name: 'sessions', value: sessions.size, limit: limits.sessions, unit: 'count' },
        { name: 'calls that wait for a file', value: waiting.used, limit: limits.questions, unit: 'count' },
        { name: 'messages held', value: held.used, limit: limits.held, unit: 'bytes' },
        { name: 'parts of files', value: budget.used, limit: limits.partMemory, unit: 'bytes' },
        { name: 'files in the queue', value: budget.queued, unit: 'count' },
      ],
      counted: metrics.counted,
      servers: () => {
        const { servers } = shown.present();
        return servers.map(({ name, transport, settings }) => ({
          name,
          transport,
          place: placeOf({ settings }),
          mcp: () => `${shown.publicUrl()}${servers.length === 1 ? '/mcp' : `/${name}/mcp`}`,
        }));
      },
      sessions: () => sessions.list(),
      endSession: async ({ id, principal, server }, actor) => {
        await shown.audit.record({ what: 'control', allowed: true, actor, subject: 'end session', principal, server });
        await sessions.close(id);
      },
      lately: () => lately.refusals,
      files: shown.control,
      audit: shown.audit,
      config: () => settingsOf(shown.present()),
    },
  };
}

import { auditedLogins } from '../audit/caller-logins.js';
import { accessRulesOf } from '../config/access.js';
import type { Config } from '../config/config.js';
import { sourceOf } from '../config/settings.js';
import { mayBeReplaced, type PresentWays } from '../parts/present-ways.js';
import type { OpenWaysIn } from '../parts/ways-in.js';
import type { Audit } from '../ports/audit.js';
import type { Authenticate } from '../ports/identity.js';
import { digestOfConfig } from './config-digest.js';
import type { MakeServer, RunningServers } from './running-servers.js';
import { same } from './same.js';

/**
 * Keys that a reload replaces, and what is said about the file itself. Everything else is built into parts that live as
 * long as the process.
 */
const REPLACED: ReadonlySet<string> = new Set([
  'servers',
  'auth',
  'clients',
  'limits',
  'callers',
  'ceiling',
  'flow',
  'handoff',
  'logLevel',
  'warnings',
  'sources',
]);

/** Keys that the log does not name: `servers` has lines of its own, and the others follow from other keys. */
const UNTOLD: ReadonlySet<keyof Config> = new Set(['servers', 'warnings', 'sources']);

/** What has become of a config that was to take the place of the present one. */
export type Reload =
  /** Nothing was changed: these keys need a restart. */
  | { kind: 'restart'; keys: string[] }
  /**
   * The keys that have changed besides `servers`, and names: of the servers that were added, removed or made anew, and of
   * those at which people must log in anew.
   */
  | { kind: 'done'; keys: string[]; changed: string[]; loginsOver: string[] }
  | { kind: 'same' };

interface Replaceable {
  running: RunningServers;
  makerFor: (config: Config) => MakeServer;
  waysIn: PresentWays;
  openWays: (config: Config) => Promise<OpenWaysIn>;
  /**
   * Puts the numbers and rules of a config into the parts that live as long as the process. Cannot fail.
   * @param changed names of servers that were added, removed or made anew
   */
  putRules: (config: Config, changed: readonly string[]) => void;
  audit: Audit;
}

/** The config that counts now, and what a reload replaces with it. */
export class PresentConfig {
  #config: Config;
  #whyRefused: string | undefined;
  readonly #parts: Replaceable;
  /** Says who calls, by the config of now. */
  readonly authenticate: Authenticate;

  constructor(config: Config, parts: Replaceable) {
    this.#config = config;
    this.#parts = parts;
    this.authenticate = auditedLogins(parts.audit, parts.waysIn.authenticate);
  }

  /** The config of now. */
  get config(): Config {
    return this.#config;
  }

  /** Why the file says something else than what counts now; undefined while it does not. */
  get whyRefused(): string | undefined {
    return this.#whyRefused;
  }

  /** Notes that what the file says now does not count, in the audit log too. @param why in words without an address or a credential */
  refuse(why: string): void {
    this.#whyRefused = why;
    this.#parts.audit.note({ what: 'config', subject: why, allowed: false });
  }

  /**
   * Makes everything that is new before anything changes, then puts all of it in place in one step. Exchanges under way
   * keep their servers, and what those were made with.
   * @throws what cannot be made; then nothing has changed
   */
  async replace(next: Config): Promise<Reload> {
    const before = this.#config;
    const { running, makerFor, waysIn, openWays, putRules, audit } = this.#parts;
    const keys = keysForRestart(before, next);
    if (keys.length > 0) return { kind: 'restart', keys };
    if (same(before, next)) {
      this.#whyRefused = undefined;
      return { kind: 'same' };
    }
    const ways = same(before.auth, next.auth) ? waysIn.now : await openWays(next);
    const prepared = await running.prepare(
      next.servers,
      makerFor(next),
      sharesChange(before, next) ? 'all' : 'changed',
    );
    try {
      // after what may fail, so that the audit log names no config that was never in force
      await recordConfig(audit, 'reloaded', next);
    } catch (error) {
      await prepared.drop();
      throw error;
    }
    const servers = new Map(running.byName);
    const { logins } = running;
    prepared.put();
    waysIn.put(ways);
    ways.know(next.servers);
    const names = new Set([...servers.keys(), ...running.byName.keys()]);
    const changed = [...names].filter((name) => servers.get(name) !== running.byName.get(name));
    putRules(next, changed);
    this.#config = next;
    this.#whyRefused = undefined;
    const after = running.logins;
    return {
      kind: 'done',
      keys: keysOf(before, next).filter((key) => !UNTOLD.has(key) && !same(before[key], next[key])),
      changed,
      loginsOver: [...logins].filter(([name, settings]) => after.get(name) !== settings).map(([name]) => name),
    };
  }
}

/** Records which config is in force from now on. @throws GatewayError `audit_unavailable` */
export async function recordConfig(audit: Audit, subject: 'started' | 'reloaded', config: Config): Promise<void> {
  if (audit.isOn) await audit.record({ what: 'config', subject, allowed: true, config: digestOfConfig(config) });
}

/** The keys that have changed and cannot be replaced in a running process. */
function keysForRestart(before: Config, after: Config): string[] {
  return [
    ...keysOf(before, after)
      .filter((key) => !REPLACED.has(key) && !same(before[key], after[key]))
      .map((key) => asTold(key, before, after)),
    ...authForRestart(before.auth, after.auth),
    // the port is open already, for as many connections as it was opened for
    ...(before.limits.sockets === after.limits.sockets ? [] : ['limits.sockets']),
    ...(before.auth.use === 'passthrough' && !same(placesOf(before), placesOf(after))
      ? ['servers (with auth.passthrough)']
      : []),
  ];
}

function keysOf(before: Config, after: Config): (keyof Config)[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Config)[];
}

/** The key as the config's file spells it. Where neither file has it, its default follows from keys that have changed. */
function asTold(key: keyof Config, ...configs: readonly Config[]): string {
  const written = key === 'secrets' ? 'secret' : key;
  const isDerived = configs.every(({ sources }) => sourceOf(written, sources) === 'default');
  return isDerived ? `${written} (its default)` : written;
}

/** Whether something has changed that all servers share: the rules about callers, hosts, or where files come from. */
function sharesChange(before: Config, after: Config): boolean {
  return (
    !same(before.clients, after.clients) ||
    !same(accessRulesOf(before), accessRulesOf(after)) ||
    // only then the servers note where short files come from
    asksOrigins(before) !== asksOrigins(after)
  );
}

function asksOrigins({ flow, handoff }: Config): boolean {
  return flow.length + handoff.length > 0;
}

/** Keys and the rules about tokens can be replaced; another way in is another gateway. */
function authForRestart(before: Config['auth'], after: Config['auth']): string[] {
  return same(before, after) || mayBeReplaced(before, after) ? [] : ['auth'];
}

/** Where the servers are, and by which names. */
function placesOf({ servers }: Config): unknown {
  return servers.map(({ name, settings }) => [name, settings.url]);
}

import { allowanceRulesOf } from '../config/access.js';
import type { AdapterDeps, AdapterList } from '../config/adapter-list.js';
import type { Choice, Config } from '../config/config.js';
import { isUnlimited } from '../policy/allowance.js';
import { type Check, type Finding, type Found, runAll } from './check.js';
import { configChecks } from './config.js';
import { issuerChecks } from './issuers.js';
import { type FitsOpenFiles, machineChecks } from './machine.js';
import { objectChecks } from './objects.js';
import { takePlace } from './place.js';
import { portChecks } from './ports.js';
import { reachChecks } from './reach.js';
import { serverChecks } from './servers.js';
import { antivirusChecks, type Open, stateChecks, telemetryChecks } from './stores.js';

interface DoctorOptions {
  config: Config;
  adapters: AdapterList;
  deps: AdapterDeps;
  fits: FitsOpenFiles;
  /** Groups to check; empty for all. */
  only: readonly string[];
  /** Asks nothing but this machine. */
  isOffline: boolean;
  /** A token that a Wharf with this secret takes at `CHECK_PATH`; undefined without a secret. */
  proof: () => string | undefined;
  signal: AbortSignal;
}

/** The names that `--only` knows. */
export const GROUPS = [
  ...['config', 'machine', 'objects', 'state', 'antivirus'],
  ...['telemetry', 'publicUrl', 'auth', 'servers'],
] as readonly string[];

/** The groups that ask nothing but this machine. */
const LOCAL: readonly string[] = ['config', 'machine'];

/** Really tries every part that a config names. It starts no gateway, and leaves nothing behind. */
export async function doctor(options: DoctorOptions): Promise<Found[]> {
  const { config, adapters, deps, fits, only, isOffline, proof, signal } = options;
  const opened: (() => Promise<void>)[] = [];
  let isOver = false;
  /** Makes it when a check first needs it, once, and closes it in the end. */
  const once = <Part extends { close(): Promise<void> }>(make: () => Promise<Part>): Open<Part> => {
    let made: Promise<Part> | undefined;
    return () => {
      made ??= make().then((found) => {
        // one that comes too late for its check would keep the process alive
        if (isOver) void found.close().catch(() => {});
        else opened.push(() => found.close());
        return found;
      });
      return made;
    };
  };
  const part = <Part extends { close(): Promise<void> }>(
    list: Readonly<Record<string, { create(settings: Choice['settings'], d: AdapterDeps): Promise<Part> }>>,
    { use, settings }: Choice,
  ): Open<Part> =>
    once(async () => {
      const adapter = list[use];
      if (!adapter) throw new Error(`there is no adapter called ${use}`);
      return adapter.create(settings, deps);
    });
  const place = once(() => takePlace(config, proof));
  const oauth = part(adapters.oauth, { use: 'jose', settings: {} });
  const checks: Check[] = [
    ...configChecks(config, adapters),
    ...machineChecks(config, fits),
    ...portChecks(config, place),
    ...objectChecks(part(adapters.objects, config.objects), {
      origins: config.allowedOrigins,
      style: config.links.style,
    }),
    ...stateChecks(part(adapters.state, config.state), countsCallers(config)),
    ...antivirusChecks(part(adapters.antivirus, config.antivirus)),
    ...telemetryChecks(part(adapters.telemetry, config.telemetry)),
    ...reachChecks(config, place),
    ...issuerChecks(config, oauth),
    ...serverChecks(config, { adapters, deps, oauth }),
  ];
  const wanted = checks.filter(({ group }) => only.length === 0 || only.includes(group));
  try {
    return await runAll(
      wanted.map((check) => (isOffline && !LOCAL.includes(check.group) ? { ...check, run: notTried } : check)),
      signal,
    );
  } finally {
    isOver = true;
    await Promise.allSettled(opened.map((close) => close()));
  }
}

function countsCallers(config: Config): boolean {
  const tools = Object.values(config.servers).flatMap((server) => Object.values(server.tools));
  const isCounted = tools.some(({ limits }) => limits?.requestsPerMinute !== undefined);
  return isCounted || !isUnlimited(allowanceRulesOf(config));
}

async function notTried(): Promise<Finding> {
  return { state: 'skipped', text: 'not tried (--offline)' };
}

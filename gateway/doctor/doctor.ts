import type { AdapterDeps, AdapterList } from '../config/adapter-list.js';
import type { Choice, Config } from '../config/config.js';
import { type Check, type Found, runAll } from './check.js';
import { machineChecks } from './machine.js';
import { reachChecks } from './reach.js';
import { serverChecks } from './servers.js';
import { antivirusChecks, type Open, objectChecks, stateChecks } from './stores.js';

export interface DoctorOptions {
  config: Config;
  adapters: AdapterList;
  deps: AdapterDeps;
  /** How many client connections fit into the system's limit of open files. */
  openFiles: (wanted: number) => number;
  /** Groups to check; empty for all. */
  only: readonly string[];
  signal: AbortSignal;
}

/** The names that `--only` knows. */
export const GROUPS = ['machine', 'objects', 'state', 'antivirus', 'publicUrl', 'servers'] as const;

/** Really tries every part that a config names. It starts no gateway, and leaves nothing behind. */
export async function doctor(options: DoctorOptions): Promise<Found[]> {
  const { config, adapters, deps, openFiles, only, signal } = options;
  const opened: (() => Promise<void>)[] = [];
  const part = <Part extends { close(): Promise<void> }>(
    list: Readonly<Record<string, { create(settings: Choice['settings'], d: AdapterDeps): Promise<Part> }>>,
    { use, settings }: Choice,
  ): Open<Part> => {
    let made: Promise<Part> | undefined;
    return () => {
      made ??= (async () => {
        const adapter = list[use];
        if (!adapter) throw new Error(`there is no adapter called ${use}`);
        const found = await adapter.create(settings, deps);
        opened.push(() => found.close());
        return found;
      })();
      return made;
    };
  };
  const checks: Check[] = [
    ...machineChecks(config, openFiles),
    ...objectChecks(part(adapters.objects, config.objects)),
    ...stateChecks(part(adapters.state, config.state)),
    ...antivirusChecks(part(adapters.antivirus, config.antivirus)),
    ...reachChecks(config),
    ...serverChecks(config.servers, adapters, deps),
  ];
  try {
    return await runAll(
      checks.filter(({ group }) => only.length === 0 || only.includes(group)),
      signal,
    );
  } finally {
    await Promise.allSettled(opened.map((close) => close()));
  }
}

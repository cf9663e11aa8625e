import type { AdapterList } from './adapter-list.js';
import type { Config } from './config.js';
import { type ConfigProblem, problem } from './problems.js';

/** Finds what cannot work on this machine in a config without problems. Starts nothing and contacts nothing. */
export async function preflight(config: Config, { upstream, audit }: AdapterList): Promise<ConfigProblem[]> {
  const { inheritedEnv } = config;
  const found = await Promise.all(
    config.servers.map(async ({ name, transport, settings }) => {
      if (transport === 'probed') return [];
      const faults = (await upstream[transport].preflight?.(settings, { inheritedEnv })) ?? [];
      return faults.map(({ path, message, value }) => problem(['servers', name, ...path], message, value));
    }),
  );
  const { use, settings } = config.audit;
  const faults = (await audit[use]?.preflight?.(settings, { inheritedEnv })) ?? [];
  const ofAudit = faults.map(({ path, message, value }) => problem(['audit', ...path], message, value));
  return [...found.flat(), ...ofAudit];
}

import type { AdapterList } from '../config/adapter-list.js';
import type { Config } from '../config/config.js';
import { warningsOf } from '../config/warnings.js';
import type { Check } from './check.js';

/** A config that was read: each of its warnings is a line. */
export function configChecks(config: Config, adapters: AdapterList): Check[] {
  const warnings = warningsOf(config, adapters);
  const line = (title: string, run: Check['run']): Check => ({ group: 'config', title, todo: 'Correct it.', run });
  return [
    line('read', async () => {
      const { servers } = config;
      const some = servers.length === 1 ? 'one server' : `${servers.length} servers`;
      return { state: 'ok', text: `${some}, auth: ${config.auth.use === 'both' ? 'apiKeys, jwt' : config.auth.use}` };
    }),
    ...warnings.map(({ path, message }) =>
      line(path, async () => ({ state: 'warning', text: message, todo: `Correct ${path}, if it is not meant so.` })),
    ),
  ];
}

import type { AdapterList } from './adapter-list.js';
import type { Config } from './config.js';
import { type ConfigProblem, problem } from './problems.js';

/** What of a config without problems its operator should know of. It works all the same. */
export function warningsOf({ objects }: Pick<Config, 'objects'>, adapters: AdapterList): ConfigProblem[] {
  const found = adapters.objects[objects.use]?.warnings?.(objects.settings) ?? [];
  return found.map(({ path, message }) => problem(['objects', ...path], message));
}

import type { AdapterList } from './adapter-list.js';
import type { Config } from './config.js';
import { type ConfigProblem, problem } from './problems.js';

/** Parts of a valid config that work, but that the operator should know about. */
export function warningsOf(
  { objects, warnings }: Pick<Config, 'objects' | 'warnings'>,
  adapters: AdapterList,
): ConfigProblem[] {
  const found = adapters.objects[objects.use]?.warnings?.(objects.settings) ?? [];
  return [...warnings, ...found.map(({ path, message }) => problem(['objects', ...path], message))];
}

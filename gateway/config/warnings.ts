import type { AdapterList } from './adapter-list.js';
import type { Config } from './config.js';
import { type ConfigProblem, problem } from './problems.js';

/** Parts of a valid config that work, but that the operator should know about. */
export function warningsOf(
  { objects, warnings, auth }: Pick<Config, 'objects' | 'warnings' | 'auth'>,
  adapters: AdapterList,
): ConfigProblem[] {
  const found = adapters.objects[objects.use]?.warnings?.(objects.settings) ?? [];
  return [
    ...warnings,
    ...found.map(({ path, message }) => problem(['objects', ...path], message)),
    ...(auth.use === 'passthrough' ? [problem(['auth', 'use'], PASSES_TOKENS)] : []),
  ];
}

const PASSES_TOKENS =
  "passes callers' tokens to the server unread: MCP tells gateways not to. Files and shares belong to a token, not to a " +
  'person; where Wharf can check tokens, use jwt';

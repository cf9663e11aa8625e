import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adapters } from '../../../adapters/index.js';
import type { Config } from '../../../gateway/config/config.js';
import { type LoadOptions, type LoadResult, loadConfig } from '../../../gateway/config/load.js';
import type { ConfigProblem } from '../../../gateway/config/problems.js';

/** The path that a problem of the file itself has. */
export const FILE = 'wharf.yaml';

/** Loads a text as a config file, with an environment of the test's own. */
export async function loadText(
  text: string | Uint8Array,
  environment: Record<string, string> = {},
  overrides: LoadOptions['overrides'] = {},
): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'wharf-config-'));
  const file = join(folder, FILE);
  await writeFile(file, text);
  const result = await loadConfig({ file, overrides }, adapters, environment);
  await rm(folder, { recursive: true });
  if (result.ok) return result;
  return {
    ok: false,
    problems: result.problems.map((found) => ({ ...found, path: found.path.replace(`${folder}/`, '') })),
  };
}

export async function configOf(text: string, environment?: Record<string, string>): Promise<Config> {
  const result = await loadText(text, environment);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

export async function problemsOf(
  text: string | Uint8Array,
  environment?: Record<string, string>,
): Promise<ConfigProblem[]> {
  const result = await loadText(text, environment);
  return result.ok ? [] : result.problems;
}

import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutsideTools } from './outside-tools.js';

/** One set of scenarios, as the suite's command line names it. */
export interface Suite {
  name: string;
  tool: 'suite' | 'nextSuite';
  args: string[];
}

/** How often each check of one scenario ended in which way: `"<check> <STATUS>" → times`. */
export type Outcome = Map<string, number>;

/** Milliseconds one whole run may take; it takes 7 s on a quiet machine. */
const RUN_MS = 100_000;

/** `results` has a folder `server-<scenario>-<time>` for each scenario. */
const RESULT_FOLDER = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/;

/** Nor may all client scenarios: they run at once, each with a process of its own, and a gateway. */
const CLIENTS_MS = 300_000;

/** For a client: `<scenario>-<time>`, where the name of a scenario may be in a folder. */
const CLIENT_RESULT = /^(.+)-\d{4}-\d\d-\d\dT[\d-]+Z[/\\]checks\.json$/;

/**
 * Runs all client scenarios, or one; the result is by scenario. @param client the program that the suite starts for each
 */
export async function runClientSuite(
  tools: OutsideTools,
  client: string,
  env: Record<string, string>,
  scenario?: string,
): Promise<Map<string, Outcome>> {
  const results = await mkdtemp(join(tmpdir(), 'wharf-conformance-'));
  try {
    const command = ['client', '--command', `${process.execPath} ${client}`];
    const which = scenario === undefined ? ['--suite', 'all'] : ['--scenario', scenario];
    const limits = ['--timeout', '120000', '-o', results];
    const output = await runTool(process.execPath, [tools.nextSuite, ...command, ...which, ...limits], {
      env,
      most: CLIENTS_MS,
    });
    const outcomes = new Map<string, Outcome>();
    for (const path of (await readdir(results, { recursive: true })).sort()) {
      const name = CLIENT_RESULT.exec(path)?.[1];
      if (name === undefined) continue;
      const checks: unknown = JSON.parse(await readFile(join(results, path), 'utf8'));
      outcomes.set(name, countChecks(checks as { id: string; status: string }[]));
    }
    if (outcomes.size === 0) throw new Error(`The suite ran no scenario of clients:\n${output.slice(-2000)}`);
    return outcomes;
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

/** Runs all scenarios of a suite against the server at `url`; the result is by scenario. */
export async function runSuite(tools: OutsideTools, suite: Suite, url: string): Promise<Map<string, Outcome>> {
  const results = await mkdtemp(join(tmpdir(), 'wharf-conformance-'));
  try {
    const output = await runTool(process.execPath, [
      tools[suite.tool],
      'server',
      '--url',
      url,
      '-o',
      results,
      ...suite.args,
    ]);
    const outcomes = new Map<string, Outcome>();
    for (const folder of (await readdir(results)).sort()) {
      const scenario = RESULT_FOLDER.exec(folder)?.[1];
      if (scenario === undefined) continue;
      const checks: unknown = JSON.parse(await readFile(join(results, folder, 'checks.json'), 'utf8'));
      outcomes.set(scenario, countChecks(checks as { id: string; status: string }[]));
    }
    if (outcomes.size === 0) throw new Error(`The suite ran no scenario against ${url}:\n${output.slice(-2000)}`);
    return outcomes;
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

/** Counts the checks that say something; INFO lines only tell what was seen, in numbers that vary from run to run. */
function countChecks(checks: { id: string; status: string }[]): Outcome {
  const outcome: Outcome = new Map();
  for (const { id, status } of checks) {
    if (status === 'INFO') continue;
    const key = `${id} ${status}`;
    outcome.set(key, (outcome.get(key) ?? 0) + 1);
  }
  return outcome;
}

/** Resolves with everything the suite wrote. It ends with 1 when a check fails, which is a result like any other. */
function runTool(
  node: string,
  args: string[],
  { env = {}, most = RUN_MS }: { env?: Record<string, string>; most?: number } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: most, cwd: tmpdir(), env: { ...process.env, ...env } };
    const child = spawn(node, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', reject);
    child.once('close', (_code, signal) => {
      if (signal === null) resolve(output);
      else reject(new Error(`The suite did not end within ${most / 1000} s:\n${output.slice(-2000)}`));
    });
  });
}

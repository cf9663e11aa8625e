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
function runTool(node: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS, cwd: tmpdir() });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', reject);
    child.once('close', (_code, signal) => {
      if (signal === null) resolve(output);
      else reject(new Error(`The suite did not end within ${RUN_MS / 1000} s:\n${output.slice(-2000)}`));
    });
  });
}

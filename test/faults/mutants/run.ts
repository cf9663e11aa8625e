import { applied } from './apply.js';
import { MUTANTS } from './list.js';
import type { Mutant } from './mutant.js';
import { Scratch } from './scratch.js';

/**
 * `npm run mutants [-- NAME or KIND …]`: seeds each fault in a copy of the source, compiles it and runs the suites that
 * are to notice it. Exit code 1 if one of them passes, or does not compile, or if a suite fails without a fault.
 */
/** Suites that run together without a fault: all of them take longer on a busy machine than one run may. */
const TOGETHER = 10;

const wanted = process.argv.slice(2);
const mutants = Object.entries(MUTANTS).flatMap(([kind, list]) =>
  list.filter(({ name }) => wanted.length === 0 || wanted.includes(kind) || wanted.includes(name)),
);
if (mutants.length === 0) {
  process.stderr.write(`Nothing is called ${wanted.join(', ')}. Kinds: ${Object.keys(MUTANTS).join(', ')}\n`);
  process.exit(2);
}

const say = (text: string) => process.stdout.write(`${text}\n`);
const scratch = await Scratch.make();
let failures = 0;
try {
  failures = await run();
} finally {
  await scratch.remove();
}
process.exitCode = failures === 0 ? 0 : 1;

async function run(): Promise<number> {
  await scratch.compile();
  const all = [...new Set(mutants.flatMap(({ suites }) => suites))];
  say(`${mutants.length} faults, ${all.length} suites. First the suites without a fault:`);
  if (!(await isClean(all))) return 1;
  let survivors = 0;
  for (const mutant of mutants) {
    const started = performance.now();
    const verdict = await judge(mutant);
    if (!verdict.isCaught) survivors += 1;
    const seconds = Math.round((performance.now() - started) / 1000);
    say(`${verdict.isCaught ? 'caught  ' : 'SURVIVED'} ${mutant.name} (${seconds} s): ${verdict.by}`);
    if (!verdict.isCaught) say(`         ${mutant.fault}`);
  }
  say(`${mutants.length - survivors} of ${mutants.length} caught`);
  return survivors;
}

async function isClean(suites: readonly string[]): Promise<boolean> {
  let passed = 0;
  const failed: string[] = [];
  for (let at = 0; at < suites.length; at += TOGETHER) {
    const outcome = await scratch.test(suites.slice(at, at + TOGETHER));
    passed += outcome.passed;
    failed.push(...outcome.failed);
    if (outcome.broken) failed.push(outcome.broken);
  }
  say(`  ${passed} tests pass, ${failed.length} fail`);
  for (const name of failed) say(`  fails: ${name}`);
  return failed.length === 0;
}

async function judge(mutant: Mutant): Promise<{ isCaught: boolean; by: string }> {
  const { before, after } = await applied(scratch.root, mutant);
  await scratch.write(mutant.file, after);
  try {
    const errors = await scratch.compile();
    if (errors !== '') return { isCaught: false, by: `it does not compile: ${errors}` };
    const { failed, passed, broken } = await scratch.test(mutant.suites, mutant.tests);
    // a suite that cannot even be loaded has noticed nothing
    if (failed.length === 0 && broken) return { isCaught: false, by: `the suites could not run: ${broken}` };
    if (failed.length === 0) return { isCaught: false, by: `${passed} tests pass` };
    return {
      isCaught: true,
      by: failed.length === 1 ? String(failed[0]) : `${failed[0]} and ${failed.length - 1} more`,
    };
  } finally {
    await scratch.write(mutant.file, before);
  }
}

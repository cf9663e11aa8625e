import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { VIAS, type Via } from './client/via.js';
import { hasPassed, score } from './compare.js';
import { EXPECTED_OF_CLIENTS } from './expected-of-clients.js';
import type { OutsideTools } from './outside-tools.js';
import { type Outcome, runClientSuite } from './suite.js';

const PAGE = fileURLToPath(new URL('../../../docs/reference/client-conformance.md', import.meta.url));
const CLIENT = fileURLToPath(new URL('./client/main.js', import.meta.url));

const NAMES: Readonly<Record<Via, string>> = { direct: 'without Wharf', rewrite: '`rewrite`', verbatim: '`verbatim`' };

type Results = ReadonlyMap<Via, ReadonlyMap<string, Outcome>>;

/**
 * Runs the official suite's client scenarios with a client on the official SDK, whose servers let it log in: directly, and
 * through Wharf with `auth: passthrough`. Prints what fails.
 * @param isWritten writes the page with the table
 * @returns whether every result is as it should be
 */
export async function reportClients(tools: OutsideTools, isWritten: boolean): Promise<boolean> {
  const results = new Map<Via, ReadonlyMap<string, Outcome>>();
  // one after the other: the suite starts all of its scenarios at once
  for (const via of VIAS) results.set(via, await outcomesOf(tools, via));
  process.stdout.write(`\nclients: scenarios passed, directly and through Wharf with auth passthrough\n\n`);
  let isAsExpected = true;
  for (const [via, outcomes] of results) {
    const failed = [...outcomes].filter(([, outcome]) => !hasPassed(outcome)).map(([scenario]) => scenario);
    process.stdout.write(`  ${via}: ${outcomes.size - failed.length} of ${outcomes.size}\n`);
    const expected = EXPECTED_OF_CLIENTS.filter((row) => row.via.includes(via)).map(({ scenario }) => scenario);
    for (const scenario of failed.filter((one) => !expected.includes(one))) {
      process.stdout.write(`    ${scenario}: FAILS: ${score(outcomes.get(scenario))}\n`);
      isAsExpected = false;
    }
    for (const scenario of expected.filter((one) => !failed.includes(one))) {
      process.stdout.write(`    ${scenario} no longer fails; remove its row\n`);
      isAsExpected = false;
    }
  }
  if (isWritten) await writeFile(PAGE, pageOf(results));
  return isAsExpected;
}

/**
 * The suite starts 48 clients at once, each with a gateway, and gives them little time: what fails there without a reason is
 * tried once more by itself.
 */
async function outcomesOf(tools: OutsideTools, via: Via): Promise<ReadonlyMap<string, Outcome>> {
  const env = { WHARF_VIA: via };
  const outcomes = await runClientSuite(tools, CLIENT, env);
  const meant = EXPECTED_OF_CLIENTS.filter((row) => row.via.includes(via)).map(({ scenario }) => scenario);
  for (const [scenario, outcome] of outcomes) {
    if (hasPassed(outcome) || meant.includes(scenario)) continue;
    for (const [name, again] of await runClientSuite(tools, CLIENT, env, scenario)) outcomes.set(name, again);
  }
  return outcomes;
}

function pageOf(results: Results): string {
  const scenarios = [...(results.get('direct')?.keys() ?? [])].sort();
  const passes = (via: Via, scenario: string) => hasPassed(results.get(via)?.get(scenario));
  const count = (via: Via) => scenarios.filter((scenario) => passes(via, scenario)).length;
  const rows = scenarios.map((scenario) => {
    const reason = EXPECTED_OF_CLIENTS.find((row) => row.scenario === scenario)?.reason ?? '';
    const cells = VIAS.map((via) => (passes(via, scenario) ? 'passes' : '**fails**'));
    return rowOf([scenario, ...cells, reason]);
  });
  const [head, line] = [VIAS.map((via) => NAMES[via]).join(' | '), VIAS.map(() => '---').join(' | ')];
  const totals = VIAS.map((via) => `${count(via)} of ${scenarios.length}`).join(' | ');
  return `# The official client suite through Wharf

\`npm run conformance -- --clients --write\` writes this page: the client scenarios of MCP's official conformance suite, run by
a client on the official SDK. The servers of the suite let the client log in, and Wharf passes that login through
([\`auth: passthrough\`](../how-to/log-in.md#a-server-that-lets-people-log-in-by-itself)): with \`rewrite\` the client knows
Wharf's URL, with \`verbatim\` Wharf has taken over the server's name.

| scenario | ${head} | why not |
| --- | ${line} | --- |
${rows.join('\n')}
| **all** | ${totals} | |
`;
}

export function rowOf(cells: readonly string[]): string {
  return `|${cells.map((cell) => (cell === '' ? ' |' : ` ${cell} |`)).join('')}`;
}

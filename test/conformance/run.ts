/**
 * `npm run conformance`: the official conformance suite against a server on the official SDK, directly and
 * through Wharf over every transport. Prints both results and their difference; ends with 1 if there is one.
 *
 *     npm run conformance                      everything
 *     npm run conformance -- --suite 2026-07-28
 *     npm run conformance -- --direct          only the server itself
 *     npm run conformance -- --clients         only the scenarios of clients; with --write the page of their results
 */
import { parseArgs } from 'node:util';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { reportClients } from './clients.js';
import { type Difference, differences, hasFailed, score, unused } from './compare.js';
import { EXPECTED } from './expected.js';
import { type HttpMode, type StdioMode, startFixtureServer, stdioCommand } from './fixture-server.js';
import { type OutsideTools, outsideTools } from './outside-tools.js';
import { type Outcome, runSuite, type Suite } from './suite.js';

interface Plan extends Suite {
  direct: HttpMode;
  /** Column → how the server behind Wharf speaks. The suite itself speaks Streamable HTTP in all of them. */
  through: Record<string, { http: HttpMode } | { stdio: StdioMode }>;
}

const SESSION_TRANSPORTS: Plan['through'] = {
  http: { http: 'http' },
  sse: { http: 'sse' },
  stdio: { stdio: 'stdio' },
};

const PLANS: Plan[] = [
  { name: 'released', tool: 'suite', args: [], direct: 'http', through: SESSION_TRANSPORTS },
  {
    name: '2025-11-25',
    tool: 'nextSuite',
    args: ['--requirements', '2025-11-25'],
    direct: 'http',
    through: SESSION_TRANSPORTS,
  },
  {
    name: '2026-07-28',
    tool: 'nextSuite',
    args: ['--requirements', '2026-07-28'],
    direct: 'http-2026',
    // HTTP+SSE ended with 2024-11-05: nothing speaks 2026-07-28 over it.
    through: { http: { http: 'http-2026' }, stdio: { stdio: 'stdio-2026' } },
  },
];

/** The tasks extension is no part of what the SDK's servers offer; its scenarios only have to fail alike. */
const NOT_OFFERED = /^tasks-/;

/** The suite leaves about 50 sessions behind without ending them; over stdio each is a process. */
const ABANDONED_SESSIONS = { limits: { processes: 100 }, timeouts: { session: '10s' } };

type Result = ReadonlyMap<string, Outcome> | Error;

const { values: options } = parseArgs({
  options: {
    suite: { type: 'string' },
    direct: { type: 'boolean', default: false },
    clients: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const plans = PLANS.filter(({ name }) => !options.clients && (options.suite === undefined || options.suite === name));
if (plans.length === 0 && !options.clients)
  throw new Error(`no suite ${options.suite}; there are ${PLANS.map(({ name }) => name)}`);

const tools = await outsideTools();
let isSame = true;
for (const plan of plans) if (!(await report(plan, tools))) isSame = false;
const isAll = options.suite === undefined && !options.direct;
if ((isAll || options.clients) && !(await reportClients(tools, options.write))) isSame = false;
process.exitCode = isSame ? 0 : 1;

/** Runs and prints one suite; resolves with whether every result is as it should be. */
async function report(plan: Plan, tools: OutsideTools): Promise<boolean> {
  const direct = await settle(() => runDirectly(plan, tools));
  const through: Record<string, Result> = {};
  if (!options.direct) {
    // One after the other: some scenarios give a server half a second, and CI has two cores.
    for (const [name, how] of Object.entries(plan.through)) {
      through[name] = await settle(() => runThrough(plan, tools, how));
    }
  }
  print(`\n${plan.name}: checks passed/failed, directly and through Wharf in front of a server over …\n\n`);
  print(table(direct, through));
  if (direct instanceof Error) return failed('directly', direct);

  // Two results that agree in being wrong would prove nothing.
  const broken = [...direct].filter(([scenario, outcome]) => !NOT_OFFERED.test(scenario) && hasFailed(outcome));
  for (const [scenario] of broken) print(`  the server itself fails ${scenario}\n`);
  let isAsExpected = broken.length === 0;
  for (const [name, result] of Object.entries(through)) {
    const expected = EXPECTED.filter(({ suite, via }) => suite === plan.name && via === name);
    if (result instanceof Error) {
      isAsExpected = failed(name, result);
      continue;
    }
    const found = differences(direct, result, expected);
    for (const difference of found) print(line(name, difference));
    for (const row of unused(expected, found)) print(`  ${name}: ${row.scenario} no longer differs; remove its row\n`);
    if (found.some(({ reason }) => reason === undefined) || unused(expected, found).length > 0) isAsExpected = false;
    else if (found.length === 0) print(`  ${name}: no difference\n`);
  }
  return isAsExpected;
}

async function runDirectly(plan: Plan, tools: OutsideTools): Promise<ReadonlyMap<string, Outcome>> {
  const server = await startFixtureServer(plan.direct);
  try {
    return await runSuite(tools, plan, server.url);
  } finally {
    server.stop();
  }
}

async function runThrough(
  plan: Plan,
  tools: OutsideTools,
  how: { http: HttpMode } | { stdio: StdioMode },
): Promise<ReadonlyMap<string, Outcome>> {
  const server = 'http' in how ? await startFixtureServer(how.http) : undefined;
  let gateway: Gateway | undefined;
  try {
    const fixtures = 'stdio' in how ? { command: stdioCommand(how.stdio) } : { url: server?.url };
    gateway = await startGateway({ config: { servers: { fixtures }, ...ABANDONED_SESSIONS } });
    return await runSuite(tools, plan, gateway.mcp());
  } finally {
    await gateway?.stop();
    server?.stop();
  }
}

async function settle(run: () => Promise<ReadonlyMap<string, Outcome>>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function table(direct: Result, through: Record<string, Result>): string {
  const columns = { direct, ...through };
  const scenarios = new Set(
    Object.values(columns).flatMap((result) => (result instanceof Error ? [] : [...result.keys()])),
  );
  const width = Math.max(...[...scenarios].map((name) => name.length), 8);
  const row = (cells: string[]) => `  ${cells.map((cell, at) => cell.padEnd(at === 0 ? width : 8)).join('  ')}\n`;
  const body = [...scenarios].sort().map((scenario) => {
    const cells = Object.values(columns).map((result) => (result instanceof Error ? '-' : score(result.get(scenario))));
    return row([scenario, ...cells]);
  });
  return `${row(['scenario', ...Object.keys(columns)])}${body.join('')}\n`;
}

function line(via: string, { scenario, check, direct, through, reason }: Difference): string {
  const mark = reason === undefined ? 'DIFFERENT' : `expected (${reason})`;
  return `  ${via}: ${scenario}: ${check}: directly ${direct}, through Wharf ${through}: ${mark}\n`;
}

function failed(what: string, error: Error): false {
  print(`  ${what}: could not be run: ${error.message}\n`);
  return false;
}

function print(text: string): void {
  process.stdout.write(text);
}

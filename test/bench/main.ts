import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { auth } from './cases/auth.js';
import { blob } from './cases/blob.js';
import type { Case } from './cases/case.js';
import { filePrice } from './cases/file-price.js';
import { freshHandles } from './cases/fresh-handles.js';
import { handle } from './cases/handle.js';
import { idle } from './cases/idle.js';
import { frames, heads } from './cases/latency.js';
import { linear } from './cases/linear.js';
import { localPath } from './cases/local-path.js';
import { many, manyPeers } from './cases/many.js';
import { memory } from './cases/memory.js';
import { picturePrice } from './cases/picture-price.js';
import { refused } from './cases/refused.js';
import { slowReader } from './cases/slow-reader.js';
import { small } from './cases/small.js';
import { store } from './cases/store.js';
import { stream } from './cases/stream.js';
import { uploadAndCall } from './cases/upload.js';
import { watchBystanders } from './lib/bystanders.js';
import { environment } from './lib/environment.js';
import { type LabOptions, openLab } from './lib/lab.js';
import { BENCH_DIRECTORY } from './lib/paths.js';
import { type Section, verdictTable } from './lib/report.js';

/** The order of the report. */
const TO_CLIENT: readonly Case[] = [
  blob,
  filePrice,
  picturePrice,
  memory,
  many,
  manyPeers,
  small,
  auth,
  frames,
  heads,
  linear,
  slowReader,
];
const CASES: readonly Case[] = [
  ...TO_CLIENT,
  handle,
  store,
  uploadAndCall,
  freshHandles,
  localPath,
  stream,
  refused,
  idle,
];
const DEFAULT_ROUNDS = 5;
const QUICK_ROUNDS = 1;

interface Flags {
  only?: string;
  rounds?: string;
  quick?: boolean;
  peers: boolean;
  subject: LabOptions['subject'];
  node: string;
  nodeArg: string[];
  out?: string;
  strict?: boolean;
}

const program = new Command('bench')
  .description('Measures the gateway against nginx and npm gateways; goals, figures and verdicts as Markdown.')
  .option('--only <goals>', 'a subset, such as P1,P2 or slow')
  .option('--rounds <n>', `interleaved rounds (default ${DEFAULT_ROUNDS}, with --quick ${QUICK_ROUNDS})`)
  .option('--quick', 'small sizes, no npm gateways: under two minutes')
  .option('--no-peers', 'without the npm gateways')
  .option('--subject <name>', 'passthrough: a trivial Node proxy in the place of the gateway', 'wharf')
  .option('--node <path>', 'the Node that runs the gateway', process.execPath)
  .option('--node-arg <flag...>', 'a flag for that Node, such as --cpu-prof', [])
  .option('--out <file>', 'where the report goes (default: RESULTS.md when everything ran)')
  .option('--strict', 'exit 1 when a goal is missed');

function chosen(flags: Flags): readonly Case[] {
  const wanted = flags.only?.toUpperCase().split(',');
  const withPeers = CASES.filter((one) => one !== manyPeers || (flags.peers && !flags.quick));
  if (!wanted) return withPeers;
  const cases = CASES.filter((one) => one.ids.some((id) => wanted.includes(id.toUpperCase())));
  if (cases.length === 0) program.error(`--only ${flags.only}: none of ${CASES.flatMap((one) => one.ids).join(', ')}`);
  return cases;
}

/** Everything ran, as users run it; in how many rounds, the report says. */
function isComplete({ only, quick, peers, subject, node, nodeArg }: Flags): boolean {
  const asUsed = subject === 'wharf' && node === process.execPath && nodeArg.length === 0;
  return only === undefined && quick !== true && peers && asUsed;
}

const print = (text: string) => process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const flags = program.parse().opts<Flags>();
  const quick = flags.quick === true;
  const rounds = Number(flags.rounds ?? (quick ? QUICK_ROUNDS : DEFAULT_ROUNDS));
  if (!Number.isInteger(rounds) || rounds < 1) program.error(`--rounds ${flags.rounds}: a whole number from 1`);
  const given = process.argv.slice(2).join(' ');
  const facts = environment(`npm run bench${given ? ` -- ${given}` : ''}`);
  print(facts.join('\n'));
  const othersShare = watchBystanders();
  const { subject, node, nodeArg: nodeArgs } = flags;
  const lab = await openLab({ rounds, quick, subject, node, nodeArgs, peers: flags.peers && !quick });
  const sections: Section[] = [];
  try {
    for (const one of chosen(flags)) {
      const section = await one.run(lab).catch((error: unknown): Section => {
        const rows = one.ids.map((id) => ({ id, what: 'could not be measured', goal: '–', measured: '–', ok: false }));
        return { title: one.ids.join(', '), rows, details: [String(error)] };
      });
      sections.push(section);
      print([`\n## ${section.title}\n`, ...section.details, '', verdictTable(section.rows)].join('\n'));
    }
  } finally {
    await lab.close();
  }
  facts.push(
    `- Meanwhile other processes took ${Math.round(othersShare() * 100)} % of all cores' time: ratios hold when it is small`,
  );
  const rows = sections.flatMap((section) => section.rows);
  const details = sections.flatMap((section) => [`## ${section.title}`, ...section.details]);
  const how = `Medians of ${rounds} interleaved rounds; ratios are taken within a round. Sizes are base64 text, MB = 10⁶.`;
  const report = ['# Benchmark results', facts.join('\n'), how, verdictTable(rows), ...details].join('\n\n');
  print(`\n${facts.at(-1)}\n\n# Goals\n\n${verdictTable(rows)}`);
  const out = flags.out ?? (isComplete(flags) ? join(BENCH_DIRECTORY, 'RESULTS.md') : undefined);
  if (out !== undefined) writeFileSync(out, `${report}\n`);
  if (flags.strict && rows.some((row) => row.ok === false)) process.exitCode = 1;
}

await main();

/**
 * `npm run soak:replicas`: many clients of two gateways behind a balancer. In the middle one gateway is killed, later
 * Redis stops for a while. In the end everything that was acknowledged is asked for again, and everything that was
 * refused. See CONTRIBUTING.md.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { ROOT } from '../../bench/lib/paths.js';
import { endPart, startPart } from '../lab.js';
import { Sampler } from '../sampler.js';
import { forgetReplicas, openReplicas, type ReplicasLab } from './lab.js';
import { type Found, LEAVE } from './messages.js';
import { type ReplicasSeen, replicasReport } from './report.js';
import { broken, figuresOf, type PhasedCall, type PhaseName } from './verdict.js';

/** Not measured: clients come, processes compile what they need. */
const WARM_UP_SECONDS = 20;
const REDIS_DOWN_SECONDS = 10;
/** What is under way when a part goes or comes back may fail for so long. */
const SETTLING_SECONDS = 10;
/** Clients finish what they are doing, and thousands of files are asked for again. */
const LEAVE_SECONDS = 180;

interface Flags {
  minutes: string;
  clients: string;
  out?: boolean;
}

const flags = new Command('soak:replicas')
  .description('Many clients of two gateways behind HAProxy; one is killed in the middle, and Redis stops for 10 s.')
  .option('--minutes <n>', 'how long it takes', '5')
  .option('--clients <n>', 'how many sessions at a time', '200')
  .option('--no-out', 'only print, and leave test/faults/REPLICAS.md as it is')
  .parse()
  .opts<Flags>();
const seconds = Number(flags.minutes) * 60;
if (!(seconds >= 90)) throw new Error('--minutes: 1.5 at least');

const print = (text: string) => process.stdout.write(`${text}\n`);

async function soak(lab: ReplicasLab): Promise<ReplicasSeen> {
  const calls: PhasedCall[] = [];
  let phase: PhaseName | undefined;
  let found: Found | undefined;
  const clients = startPart('replicas/clients', [lab.url, flags.clients], (message: unknown) => {
    const told = message as { type: string };
    if (told.type === 'found') found = message as Found;
    if (told.type === 'honest' && phase !== undefined) calls.push({ ...(message as PhasedCall), phase });
  });
  const left = new Promise((resolve) => clients.once('exit', resolve));
  const [first, second] = lab.replicas;
  const samplers: { name: string; sampler: Sampler }[] = [];
  const watch = (name: string, { adminUrl, child }: typeof first) => {
    const sampler = new Sampler(adminUrl, child.pid);
    samplers.push({ name, sampler });
    return sampler;
  };
  const during = async (name: PhaseName, lasting: number) => {
    print(`${name}: ${Math.round(lasting)} s`);
    phase = name;
    await sleep(lasting * 1000);
  };

  await sleep(WARM_UP_SECONDS * 1000);
  const measured = seconds - WARM_UP_SECONDS - 2 * SETTLING_SECONDS - REDIS_DOWN_SECONDS;
  watch(second.name, second);
  const doomed = watch(`${first.name}, killed`, first);
  await during('both', measured * 0.4);
  phase = 'one killed';
  await doomed.stop();
  await first.kill();
  await during('one killed', SETTLING_SECONDS);
  await during('both again', measured * 0.1);
  await first.startAgain();
  watch(`${first.name}, started again`, first);
  await during('both again', measured * 0.2);
  phase = 'no Redis';
  await lab.stopRedis();
  await during('no Redis', REDIS_DOWN_SECONDS);
  await lab.startRedis();
  await during('no Redis', SETTLING_SECONDS);
  await during('all again', measured * 0.3);
  phase = undefined;
  print('everything is asked for again');
  clients.send(LEAVE);
  await Promise.race([left, sleep(LEAVE_SECONDS * 1000, undefined, { ref: false })]);
  await endPart(clients);
  for (const { sampler } of samplers) await sampler.stop();
  return {
    facts: [
      `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} cores of ${cpus()[0]?.model.trim() ?? '?'}; clients, servers, HAProxy, Redis and S3 on the same machine`,
      `\`npm run soak:replicas${process.argv.length > 2 ? ` -- ${process.argv.slice(2).join(' ')}` : ''}\`: ${flags.clients} sessions of the official SDK, each with its GET stream, of servers over Streamable HTTP and stdio; ${Math.round(seconds)} s`,
      `gateway-1 ends by SIGKILL and comes back; Redis stops for ${REDIS_DOWN_SECONDS} s; what fails within ${SETTLING_SECONDS} s of either is counted there`,
    ],
    figures: figuresOf(calls),
    found,
    memory: samplers.map(({ name, sampler }) => ({ name, samples: sampler.samples })),
  };
}

const lab = await openReplicas();
let isOver = false;
try {
  const seen = await soak(lab);
  const text = replicasReport(seen);
  print(`\n${text}`);
  if (flags.out) writeFileSync(join(ROOT, 'test/faults/REPLICAS.md'), text);
  isOver = broken(seen.figures, seen.found).length === 0;
  print(isOver ? 'passed' : `not passed; logs are in ${lab.folder}`);
} finally {
  await lab.close();
  if (isOver) await forgetReplicas(lab);
  else process.exitCode = 1;
}

import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Compiled, this file is dist/test/helpers/global-setup.js. */
const SCRIPTS = fileURLToPath(new URL('../../../deploy/test-services/', import.meta.url));

/** Installing takes the longest: about 60 MB from Debian's mirror. */
const INSTALL_MS = 300_000;
const START_MS = 180_000;
/** Where nothing listens that is known at once. A service that is slow on a busy machine must not be started anew. */
const PROBE_MS = 15_000;

interface Service {
  name: string;
  script: string;
  variable: string;
  /** Where our script starts it, and where one that runs already is looked for. */
  usual: string;
  answers(url: string): Promise<boolean>;
}

const SERVICES: Service[] = [
  {
    name: 'Redis',
    script: 'redis.sh',
    variable: 'WHARF_TEST_REDIS_URL',
    usual: 'redis://127.0.0.1:6390',
    answers: redisAnswers,
  },
  {
    name: 'S3',
    script: 's3.sh',
    variable: 'WHARF_TEST_S3_ENDPOINT',
    usual: 'http://127.0.0.1:7480',
    answers: s3Answers,
  },
];

/** Scripts whose service this run has started, and which the teardown stops. */
export const started: string[] = [];

/** Finds or starts what the tests need. A service that is not to be had fails the run: no test is skipped for it. */
export default async function setUp(): Promise<void> {
  // where a gateway without a config keeps its files
  process.env.XDG_STATE_HOME = await mkdtemp(join(tmpdir(), 'wharf-state-'));
  await Promise.all([...SERVICES.map(provide), installClamd()]);
}

/** Each suite that needs it starts one of its own, which takes a tenth of a second. */
async function installClamd(): Promise<void> {
  try {
    await run(`${SCRIPTS}clamd.sh`, ['install'], { timeout: INSTALL_MS });
  } catch (error) {
    throw new Error('ClamAV could not be installed (deploy/test-services/clamd.sh).', { cause: error });
  }
}

async function provide(service: Service): Promise<void> {
  const given = process.env[service.variable];
  if (given !== undefined) {
    if (await service.answers(given)) return;
    throw new Error(`${service.variable} is set, but no ${service.name} answers there.`);
  }
  process.env[service.variable] = service.usual;
  if (await service.answers(service.usual)) return;
  try {
    await run(SCRIPTS + service.script, ['install'], { timeout: INSTALL_MS });
    await run(SCRIPTS + service.script, ['start'], { timeout: START_MS });
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().slice(-2000);
    throw new Error(
      `${service.name} could not be installed or started (deploy/test-services/${service.script}); start one yourself and set ${service.variable}. ${said ?? ''}`,
      { cause: error },
    );
  }
  started.push(service.script);
}

async function s3Answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) });
    return (await answer.text()).includes('s3.amazonaws.com/doc');
  } catch {
    return false;
  }
}

function redisAnswers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port || 6379), hostname);
    const settle = (answer: boolean) => {
      resolve(answer);
      socket.destroy();
    };
    socket.setTimeout(PROBE_MS, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    // A Redis that wants a password is one too.
    socket.once('data', (data) => settle(/^(\+PONG|-NOAUTH)/.test(data.toString())));
  });
}

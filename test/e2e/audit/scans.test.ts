import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifyFiles } from '../../../gateway/audit/verify.js';
import { auditLines } from '../../helpers/audit-lines.js';
import { sha256Url } from '../../helpers/bytes.js';
import { MARKER, OwnClamd } from '../../helpers/own-clamd.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { large, startServer } from '../antivirus/lab.js';

const CLEAN = Buffer.from('A perfectly harmless file, which is long enough for the antivirus to be asked about it.');
const HUGE = Buffer.alloc(3 << 20, 7);

type Line = Record<string, unknown>;

let folder: string;
let clamd: OwnClamd;
let server: Awaited<ReturnType<typeof startServer>>;
const running: Wharf[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-scans-'));
  clamd = await OwnClamd.start();
  server = await startServer();
});

afterAll(async () => {
  await Promise.all(running.map((wharf) => wharf.stop()));
  await server?.upstream.stop();
  await clamd?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(name: string, antivirus: Record<string, unknown> = {}) {
  const path = join(folder, `${name}.jsonl`);
  const wharf = await startWharf({
    servers: server.servers,
    config: { antivirus: { ...clamd.config, ...antivirus }, audit: { use: 'file', path } },
  });
  running.push(wharf);
  const client = await RawClient.connect(wharf.mcp);
  const scans = () => auditLines<Line>(path, 'scan');
  /** The lines about scans that some work adds: a note does not wait for its line. */
  const added = async (count: number, work: () => Promise<unknown>): Promise<Line[]> => {
    const before = (await scans()).length;
    await work();
    await until(async () => (await scans()).length >= before + count);
    return (await scans()).slice(before);
  };
  return { client, added, path };
}

const file = (bytes: Buffer) => [{ digest: sha256Url(bytes), size: bytes.length }];
const database = expect.stringMatching(/^ClamAV /);

describe('the audit log of scanned files', () => {
  it('names the file by its digest, the verdict, and by which signatures it was made', async () => {
    const { client, added, path } = await start('verdicts');
    const give = (bytes: Buffer) => async () => {
      server.gives(bytes);
      await client.call('image');
    };
    const about = { what: 'scan', principal: 'anonymous', server: 'lab', rule: 'antivirus' };
    const clean = large(CLEAN);
    expect(await added(1, give(clean))).toMatchObject([
      { ...about, allowed: true, subject: '/result/content/1/data', scan: { verdict: 'clean' }, files: file(clean) },
    ]);
    expect(await added(1, give(CLEAN))).toMatchObject([
      { ...about, allowed: true, scan: { verdict: 'clean', database }, files: file(CLEAN) },
    ]);
    const infected = large(MARKER);
    const signature = expect.stringContaining('Wharf');
    expect(await added(1, give(infected))).toMatchObject([
      {
        ...{ ...about, allowed: false, code: 'file_infected', files: file(infected) },
        scan: { verdict: 'infected', signature, database },
      },
    ]);
    const argument = { file: CLEAN.toString('base64') };
    expect(await added(1, () => client.call('take', argument))).toMatchObject([
      { ...about, allowed: true, subject: "argument 'file'", files: file(CLEAN) },
    ]);
    expect((await verifyFiles([path])).faults).toEqual([]);
  });

  it.each([
    ['refuse', false, 'unscannable', 'file_unscannable'],
    ['pass', true, 'passed', undefined],
  ])(
    'says of a file that is too large to be scanned, with larger: %s, what became of it',
    async (larger, allowed, verdict, code) => {
      const { client, added } = await start(`larger-${larger}`, { maxSizeMiB: 2, larger });
      server.gives(HUGE);
      const [line] = await added(1, () => client.call('image'));
      expect(line).toMatchObject({ allowed, scan: { verdict } });
      expect(line?.code).toBe(code);
      const [about] = (line?.files ?? []) as { digest?: string; size: number }[];
      // a refused one was not read to its end
      if (allowed) expect(about).toEqual(file(HUGE)[0]);
      else expect(about?.digest).toBeUndefined();
    },
  );

  it('says that there was no verdict', async () => {
    const { client, added } = await start('away');
    server.gives(CLEAN);
    await client.call('image');
    await clamd.stop();
    const lines = await added(1, () => client.call('image'));
    expect(lines).toMatchObject([
      { allowed: false, code: 'antivirus_unavailable', scan: { verdict: 'failed' }, files: file(CLEAN) },
    ]);
    await clamd.restart();
  });
});

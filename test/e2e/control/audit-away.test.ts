import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { type Gateway, startGateway } from '../../helpers/gateway-process.js';
import { until } from '../../helpers/wait.js';

const KEY = 'ann-0123456789';

let fake: FakeUpstream;
let wharf: Gateway;
let folder: string;
let log: string;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json' });
  folder = await mkdtemp(join(tmpdir(), 'wharf-audit-away-'));
  log = join(folder, 'log');
  wharf = await startGateway({
    config: {
      servers: { store: { url: fake.url } },
      audit: { use: 'file', path: join(log, 'audit.jsonl') },
      console: { users: [{ name: 'ann', hash: keyHash(KEY) }] },
    },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
  await rm(folder, { recursive: true, force: true });
});

const audit = () => fetch(`${wharf.adminUrl}/api/audit`, { headers: { authorization: `Bearer ${KEY}` } });

describe('the console, of an audit log', () => {
  it('whose folder is away, has no lines; they are there again with it', async () => {
    await rename(log, `${log}.away`);
    expect(await (await audit()).json()).toEqual({ lines: [], looked: 0 });
    await rename(`${log}.away`, log);
    expect(await (await audit()).json()).toMatchObject({ lines: [{ what: 'config' }] });
  });

  it('that cannot be read, says that this is a fault, and the log has its cause', async () => {
    await rename(log, `${log}.away`);
    await writeFile(log, 'not a folder');
    expect((await audit()).status).toBe(500);
    await until(() => wharf.logs().includes('a request of an operator failed'));
    const line =
      wharf
        .logs()
        .split('\n')
        .find((one) => one.includes('a request of an operator failed')) ?? '';
    expect(JSON.parse(line)).toMatchObject({ level: 'error', code: 'internal', err: { code: 'ENOTDIR' } });
    const metrics = await (await fetch(`${wharf.adminUrl}/metrics`)).text();
    expect(metrics).toContain('wharf_errors_total{code="internal"} 1');
    await rm(log);
    await rename(`${log}.away`, log);
  });
});

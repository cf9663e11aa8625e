import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifyFiles } from '../../../gateway/audit/verify.js';
import { auditLines } from '../../helpers/audit-lines.js';
import { sha256Url } from '../../helpers/bytes.js';
import type { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { BIG, blob, bytesOf, F1, type Lab, rpc, startLab, stream } from '../files/sep-2532-lab.js';

type Line = Record<string, unknown> & { files: { digest?: string; size: number; id?: string; mimeType?: string }[] };

const PDF = 'application/pdf';
const SECRET = 'docs://big?sig=a-secret-of-the-address';
const HALF = 'docs://half';

let folder: string;
let path: string;
let lab: Lab;
let client: RawClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-streams-'));
  path = join(folder, 'audit.jsonl');
  lab = await startLab({
    resources: {
      [SECRET]: blob(SECRET, BIG, PDF),
      'docs://small': blob('docs://small', F1, PDF),
      [HALF]: (message) => {
        const contents = [{ uri: HALF, mimeType: PDF, blob: BIG.toString('base64') }];
        return { ...rpc(message, { result: { contents } }), cutAfter: 1_500_000 };
      },
      'docs://slow': (message) => {
        const contents = [{ uri: 'docs://slow', mimeType: PDF, blob: BIG.toString('base64') }];
        return { ...rpc(message, { result: { contents } }), cutAfter: 1_500_000, cut: 'stall' };
      },
    },
    config: { audit: { use: 'file', path } },
  });
  client = await lab.client();
});

afterAll(async () => {
  await lab?.close();
  await rm(folder, { recursive: true, force: true });
});

const downloads = () => auditLines<Line>(path, 'download');

/** The line that some work adds: it is written once the bytes are over. */
async function added(work: () => Promise<unknown>): Promise<Line> {
  const before = (await downloads()).length;
  await work();
  await until(async () => (await downloads()).length > before);
  return (await downloads())[before] as Line;
}

const who = { principal: 'anonymous', address: '127.0.0.1', server: 'scripted', from: 'scripted' };

describe('the audit log of bytes that answer a request', () => {
  it('has who got them, of what, and their digest, though nothing was stored', async () => {
    const line = await added(async () => expect(await bytesOf(await stream(client, SECRET))).toEqual(BIG));
    expect(line).toMatchObject({ ...who, method: 'resources/stream', allowed: true, outcome: 'whole' });
    expect(line.subject).toBe('docs://big?sig=[redacted]');
    expect(line.files).toEqual([{ digest: sha256Url(BIG), size: BIG.length, mimeType: PDF }]);
    const small = await added(async () => expect(await bytesOf(await stream(client, 'docs://small'))).toEqual(F1));
    expect(small.files).toEqual([{ digest: sha256Url(F1), size: F1.length, mimeType: PDF }]);
  });

  it('says that they broke off because the server did, after how many', async () => {
    let got = 0;
    const line = await added(async () => {
      const response = await stream(client, HALF);
      const reader = response.body?.getReader();
      await expect(
        (async () => {
          for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
            got += next.value.length;
        })(),
      ).rejects.toThrow();
    });
    expect(line).toMatchObject({ ...who, subject: HALF, allowed: true, outcome: 'broken off' });
    const [about] = line.files;
    expect(about?.digest).toBeUndefined();
    expect(about?.size).toBeGreaterThanOrEqual(got);
    expect(about?.size).toBeLessThan(BIG.length);
  });

  it('says that they broke off because the client did', async () => {
    const line = await added(async () => {
      const response = await stream(client, 'docs://slow');
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    });
    expect(line).toMatchObject({ ...who, subject: 'docs://slow', outcome: 'broken off' });
  });

  it('has no download of what was refused, and is one whole chain', async () => {
    const before = (await downloads()).length;
    await (await stream(client, 'docs://unknown')).text();
    await added(() => stream(client, 'docs://small').then(bytesOf));
    expect(await downloads()).toHaveLength(before + 1);
    expect((await verifyFiles([path])).faults).toEqual([]);
  });
});

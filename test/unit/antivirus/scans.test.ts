import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ClamdConnection, ClamdScan } from '../../../adapters/antivirus/clamd/connection.js';
import { create, settings } from '../../../adapters/antivirus/clamd.js';
import { create as createObjects, settings as objectSettings } from '../../../adapters/objects/memory.js';
import { Ledger, UNSHARED } from '../../../gateway/budget/ledger.js';
import { FileScan } from '../../../gateway/files/antivirus/file-scan.js';
import { Scans } from '../../../gateway/files/antivirus/scans.js';
import type { Scan } from '../../../gateway/ports/antivirus.js';
import type { Metrics } from '../../../gateway/ports/metrics.js';
import { ClamdStub, type StubOptions } from '../../helpers/clamd-stub.js';
import { silentLog } from '../../helpers/silent-log.js';
import { until } from '../../helpers/wait.js';

const CLEAN = Buffer.alloc(1000, 3);

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function lab(options: StubOptions, config: Record<string, unknown> = {}, instead?: Scan) {
  const stub = await ClamdStub.start(options);
  stops.push(() => stub.stop());
  const { scanner: clamd } = create(settings.parse({ port: stub.port, maxSizeMiB: 1, ...config }));
  if (!clamd) throw new Error('clamd scans');
  const scanner = instead ? { ...clamd, begin: async () => instead } : clamd;
  const counts: Record<string, number> = {};
  const metrics = {
    count: (_: string, labels: { outcome: string }) => {
      counts[labels.outcome] = (counts[labels.outcome] ?? 0) + 1;
    },
  } as unknown as Metrics;
  const audited: unknown[] = [];
  const audit = { isOn: true, note: (entry: unknown) => audited.push(entry) };
  const ledger = new Ledger({ limit: 'antivirus.scans', total: scanner.scans, sharing: UNSHARED });
  const objects = createObjects(objectSettings.parse({}), { clock: { now: () => Date.now() } });
  const scans = new Scans({ scanner, ledger, queueMs: 60_000, objects, audit, log: silentLog, metrics });
  const file = { owner: { principal: 'ann' }, path: 'the upload', signal: new AbortController().signal };
  return { stub, scans, scanner, counts, audited, file, ledger };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    (result) => result,
    (error: { code?: string }) => error.code,
  );

describe('What clamd says of a file', () => {
  it('is its verdict only if it is one of those words', async () => {
    const { scans, file } = await lab({ reply: () => 'stream: OK' });
    expect(await scans.scan(file, 1000, () => [CLEAN])).toBe('clean');
  });

  it.each<[string, StubOptions, string]>([
    ['an error', { reply: () => "stream: Can't open file ERROR" }, 'antivirus_unavailable'],
    ['nothing', { reply: () => undefined }, 'antivirus_unavailable'],
    ['a word that contains OK', { reply: () => 'stream: BROKEN OK' }, 'antivirus_unavailable'],
    [
      'that the file is too long, before its end',
      { early: { after: 500, text: 'INSTREAM size limit exceeded. ERROR' } },
      'file_unscannable',
    ],
    ['a reply without an end', { reply: () => 'x'.repeat(100_000) }, 'antivirus_unavailable'],
  ])('that it is %s keeps the file from everyone', async (_, options, code) => {
    const { scans, file, ledger, audited } = await lab(options);
    const pieces = [CLEAN, CLEAN, CLEAN];
    expect(await codeOf(scans.scan(file, 3000, () => pieces))).toBe(code);
    expect(audited).toEqual([expect.objectContaining({ what: 'scan', allowed: false, principal: 'ann', code })]);
    expect(ledger.used).toBe(0);
  });

  it('is not that it is clean, if that comes before the end of the file', async () => {
    const { stub, file } = await lab({ early: { after: 500, text: 'stream: OK' } });
    const address = { host: '127.0.0.1', port: stub.port, timeout: 60_000 };
    const connection = await ClamdConnection.open('INSTREAM', address, file.signal);
    const scan = new ClamdScan(connection);
    await scan.write(CLEAN);
    await until(() => connection.said !== undefined);
    expect(await codeOf(scan.end())).toBe('antivirus_unavailable');
  });
});

/** In a thread of its own, so that it answers while the test's does nothing else. */
const EARLY = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.pause();
      socket.write('INSTREAM size limit exceeded. ERROR\\0', () => socket.destroy());
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

describe('A clamd that answers early and closes the connection', () => {
  it('is heard, although the next piece can no longer be sent', async () => {
    const worker = new Worker(EARLY, { eval: true });
    stops.push(async () => void (await worker.terminate()));
    const [port] = (await once(worker, 'message')) as [number];
    const { signal } = new AbortController();
    const scan = new ClamdScan(
      await ClamdConnection.open('INSTREAM', { host: '127.0.0.1', port, timeout: 60_000 }, signal),
    );
    await scan.write(Buffer.alloc(100_000));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    await scan.write(CLEAN);
    expect(await scan.end()).toEqual({ kind: 'too-large' });
  });
});

describe('A clamd that says one byte after the other', () => {
  it('has as long for all of them as for the first', async () => {
    const { scans, file, ledger } = await lab({ drips: true }, { timeoutSeconds: 1 });
    // and not because its reply became too long, which takes minutes
    await expect(scans.scan(file, 1000, () => [CLEAN])).rejects.toMatchObject({
      code: 'antivirus_unavailable',
      facts: { reason: 'it did not answer in time' },
    });
    expect(ledger.used).toBe(0);
  });
});

describe('A caller that leaves', () => {
  it('gives up its place while clamd is still to be proven', async () => {
    const { scans, file, ledger } = await lab({ provesNothing: true });
    const gone = new AbortController();
    const scanned = codeOf(scans.scan({ ...file, signal: gone.signal }, 1000, () => [CLEAN]));
    await until(() => ledger.used === 1);
    gone.abort();
    await scanned;
    expect(ledger.used).toBe(0);
  });
});

describe('A file that is given up for another reason while it is scanned', () => {
  it('is not a failure of the antivirus', async () => {
    const { scans, file, counts, audited, scanner } = await lab({ reads: new Promise(() => {}) });
    await scanner.check();
    const scan = new FileScan(scans, { ...file, digest: () => 'digest' });
    await scan.take(CLEAN);
    const ended = codeOf(scan.end());
    // as its caller's quota, or the store, refuses it
    scan.abort();
    await ended;
    expect([counts, audited]).toEqual([{}, []]);
  });
});

describe('A slow clamd', () => {
  it('makes the source wait for each piece, so that nothing gathers in memory', async () => {
    let go = () => {};
    const taken = new Promise<void>((resolve) => {
      go = resolve;
    });
    const written: number[] = [];
    const slow: Scan = {
      write: (bytes) => {
        written.push(bytes.length);
        return taken;
      },
      end: async () => ({ kind: 'clean' }),
      abort: () => {},
    };
    const { scans, file } = await lab({}, {}, slow);
    const scan = new FileScan(scans, file);
    let hasMoved = false;
    const wait = scan.take(CLEAN)?.then(() => {
      hasMoved = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([written, hasMoved]).toEqual([[CLEAN.length], false]);
    go();
    await wait;
    await scan.end();
    expect(await scan.settle({ key: 'f/none', size: CLEAN.length })).toBe('clean');
  });
});

describe('Many files at one time', () => {
  it('are scanned as many at a time as antivirus.scans says, and the rest waits its turn', async () => {
    let go = () => {};
    const reads = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { scans, file, stub, scanner } = await lab({ reads }, { scans: 2 });
    await scanner.check();
    const all = Promise.all(Array.from({ length: 10 }, () => scans.scan(file, 1000, () => [CLEAN])));
    await until(() => stub.open === 2);
    expect(scans.waiting).toBe(8);
    go();
    expect(new Set(await all)).toEqual(new Set(['clean']));
    expect(stub.most).toBe(2);
  });

  it('are refused by name when too many wait, and recorded as files without a verdict', async () => {
    const { scans, file, stub, scanner, counts, audited } = await lab(
      { reads: new Promise(() => {}) },
      { scans: 1, queue: 1 },
    );
    await scanner.check();
    const gone = new AbortController();
    const waiting = [1, 2].map(() => codeOf(scans.scan({ ...file, signal: gone.signal }, 1000, () => [CLEAN])));
    await until(() => stub.open === 1 && scans.waiting === 1);
    expect(await codeOf(scans.scan(file, 1000, () => [CLEAN]))).toBe('antivirus_full');
    gone.abort();
    await Promise.all(waiting);
    expect(counts).toEqual({ failed: 1 });
    const scan = expect.objectContaining({ verdict: 'failed' });
    expect(audited).toEqual([expect.objectContaining({ what: 'scan', allowed: false, code: 'antivirus_full', scan })]);
  });
});

describe('A sender that stops in the middle of its file', () => {
  it('loses its place to others; its file is read from the store in the end', async () => {
    const { scans, file, ledger, scanner } = await lab({}, { scans: 1 });
    await scanner.check();
    const scan = new FileScan(scans, file);
    await scan.take(CLEAN);
    expect(ledger.used).toBe(1);
    await until(() => ledger.used === 0);
    expect(await scans.scan(file, 1000, () => [CLEAN])).toBe('clean');
    expect(scan.take(CLEAN)).toBeUndefined();
    await scan.end();
    // there is no such object here, so that the read shows
    expect(await codeOf(scan.settle({ key: 'f/none', size: 2000 }))).toBe('store_unavailable');
  });
});

describe('A clamd', () => {
  it.each<[string, StubOptions, string]>([
    ['that does not find the EICAR test file', { proof: 'stream: OK' }, 'it does not find the EICAR test file'],
    ['that does not answer to PING', { ping: 'PANG' }, 'its reply to PING is not PONG'],
  ])('%s is not trusted', async (_, options, reason) => {
    const { scanner } = await lab(options);
    await expect(scanner.check()).rejects.toMatchObject({
      code: 'antivirus_unavailable',
      facts: { reason: expect.stringContaining(reason) },
      // for the log
      cause: { message: expect.stringContaining(reason) },
    });
  });
});

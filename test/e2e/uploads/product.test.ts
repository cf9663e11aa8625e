import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { PRINCIPAL } from '../../helpers/file-parts.js';
import type { Gateway } from '../../helpers/gateway-process.js';
import { RawSocket } from '../../helpers/raw-socket.js';
import { until } from '../../helpers/wait.js';
import { Replicas } from './replicas.js';

const MIB = 1024 * 1024;

let replicas: Replicas;

beforeAll(async () => {
  replicas = await Replicas.open();
});

afterAll(() => replicas?.close());

async function withGateway<T>(run: (gateway: Gateway) => Promise<T>): Promise<T> {
  const gateway = await replicas.start();
  try {
    return await run(gateway);
  } finally {
    await gateway.stop();
  }
}

describe('a gateway process that takes uploads', () => {
  it('logs each of them, and never a ticket (BASE-14)', () =>
    withGateway(async (gateway) => {
      const { ticket, uri } = await replicas.authorize();
      const url = `${gateway.url}/u/${ticket}`;
      const statuses: number[] = [];
      const form = { 'content-type': 'multipart/form-data; boundary=x' };
      for (const init of [
        { method: 'GET' },
        { method: 'POST', body: 'nonsense', headers: form },
        { method: 'PUT', body: 'x' },
        { method: 'PUT', body: 'y' },
        { method: 'DELETE' },
      ])
        statuses.push((await fetch(url, init)).status);
      expect(statuses).toEqual([200, 400, 201, 409, 405]);
      await until(async () => gateway.logs().includes(uri.slice(uri.indexOf('f_'))));
      expect(gateway.logs()).not.toContain(ticket);
      const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      expect(metrics).toContain('wharf_uploads_total{outcome="stored"} 1\n');
      expect(metrics).toContain('wharf_uploads_total{outcome="refused"} 2\n');
      expect(metrics).not.toContain(ticket);
    }));

  it('serves what was uploaded, at its own link', () =>
    withGateway(async (gateway) => {
      const { ticket, uri } = await replicas.authorize();
      const bytes = Buffer.alloc(6 * MIB, 'linked');
      await fetch(`${gateway.url}/u/${ticket}`, { method: 'PUT', body: bytes });
      const resolved = await replicas.parts.library.resolve(uri, PRINCIPAL);
      if (resolved.kind !== 'ready') throw new Error(resolved.kind);
      const link = (await replicas.parts.library.refer(resolved.record)).url;
      const response = await fetch(gateway.url + link.slice(link.indexOf('/d/')));
      expect(sha256Url(Buffer.from(await response.arrayBuffer()))).toBe(sha256Url(bytes));
    }));

  it('finishes an upload under way when it is told to stop, and then ends', async () => {
    const gateway = await replicas.start();
    const { ticket, uri } = await replicas.authorize();
    const socket = await RawSocket.open(Number(new URL(gateway.url).port));
    socket.head(`PUT /u/${ticket}`, { 'Content-Length': 12 });
    socket.send('Hello ');
    await until(async () => (await metric(gateway, 'wharf_open_exchanges')) === 1);
    const stopped = gateway.stop();
    await until(async () => gateway.logs().includes('drain') || (await isRefusing(gateway)));
    socket.send('world!');
    expect(await socket.toEnd()).toMatch(/^HTTP\/1\.1 201 /);
    expect(await stopped).toBe(0);
    expect(await replicas.parts.digestOf(uri)).toBe(sha256Url(Buffer.from('Hello world!')));
  });

  it(
    'takes 256 MiB with no more memory than 16 MiB (P1)',
    () =>
      withGateway(async (gateway) => {
        const peakAfter = async (size: number) => {
          const { ticket } = await replicas.parts.uploadLinks.authorize({ principal: PRINCIPAL, size });
          const piece = new Uint8Array(MIB);
          const body = ReadableStream.from(repeat(piece, size / MIB));
          const init = { method: 'PUT', body, duplex: 'half' } as RequestInit;
          expect((await fetch(`${gateway.url}/u/${ticket}`, init)).status).toBe(201);
          const status = await readFile(`/proc/${gateway.pid}/status`, 'utf8');
          return (Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024) / MIB;
        };
        const small = await peakAfter(16 * MIB);
        const large = await peakAfter(256 * MIB);
        expect(large - small).toBeLessThan(96);
      }),
    120_000,
  );
});

async function* repeat(piece: Uint8Array, times: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < times; n += 1) yield piece;
}

async function metric(gateway: Gateway, name: string): Promise<number> {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

/** Whether the public port no longer takes new connections. */
function isRefusing(gateway: Gateway): Promise<boolean> {
  return fetch(`${gateway.url}/u/x`, { headers: { connection: 'close' } }).then(
    ({ status }) => status === 503,
    () => true,
  );
}

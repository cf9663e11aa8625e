import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/upstream/streamable-http.js';
import { failureOf, fixtureFile, request as message, POST_HEADERS, upstreamDeps } from './subject.js';

let folder: string;
let server: Server;
const connections = new Set<object>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wharf-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', key, '-out', cert, '-days', '1'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'ignore' });
  server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    connections.add(request.socket);
    response.setHeader('content-type', 'application/json');
    response.end('{"over":"tls"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const url = (): string => `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;

describe('streamable-http over TLS', () => {
  it('reaches a server whose certificate is trusted, over one connection', async () => {
    // which certificates are trusted is decided when a process starts, so this one is asked by a process of its own
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'), NODE_OPTIONS: '' };
    const command = [fixtureFile('https-client.fixture.mjs'), url()];
    const { stdout } = await promisify(execFile)(process.execPath, command, { env });
    expect(JSON.parse(stdout)).toEqual(Array(3).fill('{"over":"tls"}'));
    expect(connections.size).toBe(1);
  });

  it('cannot reach a server whose certificate is not', async () => {
    const upstream = create(settings.parse({ url: url() }), upstreamDeps());
    const call = { method: 'POST' as const, headers: { ...POST_HEADERS }, body: message(1, 'ping') };
    const failure = await failureOf(upstream.open(call, new AbortController().signal));
    expect(failure.code).toBe('upstream_unreachable');
    expect((await failureOf(upstream.check())).code).toBe('upstream_unreachable');
    await upstream.close();
  });
});

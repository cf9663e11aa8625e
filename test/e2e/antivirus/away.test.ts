import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MARKER, OwnClamd } from '../../helpers/own-clamd.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { large, type Offered, startServer } from './lab.js';

const CLEAN = large(Buffer.from('harmless'));

let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server?.upstream.stop());

const start = (antivirus: Record<string, unknown>): Promise<Wharf> =>
  startWharf({
    servers: server.servers,
    config: { antivirus },
  });

const ready = async (wharf: Wharf) => {
  const answer = await fetch(`${wharf.adminUrl}/readyz`);
  return { code: answer.status, ...((await answer.json()) as { parts: Record<string, string> }) };
};

describe('While clamd is away', () => {
  it('no file is taken or given out, readiness says so, and when it is back no restart is needed (R22)', async () => {
    const clamd = await OwnClamd.start();
    const wharf = await start(clamd.config);
    const client = await RawClient.connect(wharf.mcp);
    server.gives(CLEAN);
    expect((await client.call('image')).error).toBeUndefined();
    expect(await ready(wharf)).toMatchObject({ code: 200, parts: { antivirus: 'ok' } });

    await clamd.stop();
    expect((await client.call('image')).error).toMatchObject({ data: { code: 'antivirus_unavailable' } });
    server.gives(Buffer.from('short enough to stay in the message, and long enough to be scanned'));
    expect((await client.call('image')).error).toMatchObject({ data: { code: 'antivirus_unavailable' } });
    const { result } = await client.call('request_file_upload', {});
    const { upload } = (result as unknown as Offered).structuredContent;
    const put = () => fetch(upload.url, { method: 'PUT', body: new Uint8Array(CLEAN) });
    expect((await put()).status).toBe(503);
    await until(async () => (await ready(wharf)).code === 503);
    expect((await ready(wharf)).parts.antivirus).toBe('it cannot be reached');
    // what has no file in it passes
    expect((await client.request('tools/list')).error).toBeUndefined();

    await clamd.restart();
    await until(async () => (await ready(wharf)).code === 200);
    expect((await put()).status).toBe(201);
    server.gives(large(MARKER));
    expect((await client.call('image')).error).toMatchObject({ data: { code: 'file_infected' } });
    await wharf.stop();
    await clamd.stop();
  });

  it('because it hangs, a file is refused in time', async () => {
    const clamd = await OwnClamd.start();
    const wharf = await start({ ...clamd.config, timeoutSeconds: 5 });
    const client = await RawClient.connect(wharf.mcp);
    server.gives(CLEAN);
    expect((await client.call('image')).error).toBeUndefined();
    await clamd.signal('SIGSTOP');
    expect((await client.call('image')).error).toMatchObject({ data: { code: 'antivirus_unavailable' } });
    await clamd.signal('SIGCONT');
    await until(async () => (await client.call('image')).error === undefined);
    await wharf.stop();
    await clamd.stop();
  });
});

describe('A clamd that passes in silence what is larger than it scans', () => {
  it('is not trusted at all', async () => {
    const clamd = await OwnClamd.start({ CLAMD_MAX_FILE: '1M', CLAMD_ALERTS: 'no' });
    const wharf = await start({ ...clamd.config, maxSizeMiB: 2 });
    const client = await RawClient.connect(wharf.mcp);
    server.gives(CLEAN);
    expect((await client.call('image')).error).toMatchObject({ data: { code: 'antivirus_unavailable' } });
    expect((await ready(wharf)).parts.antivirus).toMatch(/^it passes a file of .* unscanned: set AlertExceedsMax yes/);
    await wharf.stop();
    await clamd.stop();
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { startFakeUpstream } from '../helpers/fake-upstream.js';
import { isRunning } from '../helpers/is-running.js';
import { until } from '../helpers/wait.js';
import { FaceProcess } from './stdio-face-process.js';

/** A server that says its process id of its own accord, and answers `later` after 300 ms. */
const SERVER = `
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    if (method === 'initialize' && params.protocolVersion === 'none') say({ id, error: { code: -32602, message: 'no' } });
    else if (method === 'initialize')
      say({ id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: {} } });
    if (method === 'notifications/initialized') say({ method: 'notifications/pid', params: { pid: process.pid } });
    if (method === 'ping') say({ id, result: {} });
    if (method === 'later') setTimeout(() => say({ id, result: { pid: process.pid } }), 300);
  }).on('close', () => process.exit());`;

let face: FaceProcess;

afterEach(() => face.clean());

const pids = () => face.messages.flatMap(({ params }) => (params?.pid === undefined ? [] : [Number(params.pid)]));

describe('a second initialize', () => {
  it('opens a session that is listened to, and ends the one before once its calls are answered', async () => {
    face = await FaceProcess.start('--', process.execPath, '-e', SERVER);
    await face.initialize();
    await until(() => pids().length === 1);
    face.request(1, 'later');
    face.request(2, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} });
    await face.answer(2);
    face.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await until(() => pids().length === 2);
    const [first = 0, second = 0] = pids();
    expect((await face.answer(1)).result).toEqual({ pid: first });
    await until(() => !isRunning(first));
    face.request(3, 'later');
    expect((await face.answer(3)).result).toEqual({ pid: second });
    face.child.stdin.end();
    expect(await face.ended).toBe(0);
    await until(() => !isRunning(second));
  });

  it('that is refused leaves the session as it is', async () => {
    face = await FaceProcess.start('--', process.execPath, '-e', SERVER);
    await face.initialize();
    face.request(2, 'initialize', { protocolVersion: 'none', capabilities: {}, clientInfo: {} });
    expect((await face.answer(2)).error?.message).toBe('no');
    face.request(3, 'ping');
    expect((await face.answer(3)).result).toEqual({});
  });
});

describe('a server that ends each stream at once and asks for no pause', () => {
  it('is not asked for its streams without one', async () => {
    const fake = await startFakeUpstream({ transport: 'json' });
    try {
      let count = 0;
      const nothing = () => ({ contentType: 'text/event-stream', body: `id: ${count++}\nretry: 0\ndata:\n\n` });
      fake.respond = ({ method, body }) => (method === 'GET' || body.includes('"slow"') ? nothing() : undefined);
      face = await FaceProcess.start('--upstream', fake.url);
      await face.initialize();
      face.request(1, 'tools/call', { name: 'slow' });
      await until(() => count > 2);
      const [before, begun] = [count, performance.now()];
      await until(() => count > before + 12);
      // two streams, each five times a second; without a pause they come in hundreds
      expect(performance.now() - begun).toBeGreaterThan(1000);
    } finally {
      await face.clean();
      await fake.close();
    }
  });
});

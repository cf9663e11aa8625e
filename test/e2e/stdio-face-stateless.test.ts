import { afterEach, expect, it } from '@jest/globals';
import { RecordingUpstream } from '../helpers/recording-upstream.js';
import { FaceProcess } from './stdio-face-process.js';

/** Answers each call after the next one has come, and writes a line of its log with each call that comes. */
const SERVER = `
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const waiting = [];
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'tools/list') return say({ id, result: { resultType: 'complete', tools: [{ name: 'one', inputSchema: { type: 'object' } }] } });
  if (method !== 'tools/call') return;
  waiting.push(id);
  say({ method: 'notifications/message', params: { level: 'info', data: 'call ' + params.arguments.number } });
  if (waiting.length === 3) for (const one of waiting) say({ id: one, result: { resultType: 'complete', content: [] } });
});`;

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'host', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/logLevel': 'info',
};

let face: FaceProcess;

afterEach(() => face.clean());

it('passes on what a server says on its own account, also while a stateless client has several calls under way', async () => {
  face = await FaceProcess.start('--', process.execPath, '-e', SERVER);
  for (const number of [1, 2, 3]) face.request(number, 'tools/call', { name: 'one', arguments: { number }, _meta });
  for (const number of [1, 2, 3]) expect((await face.answer(number)).error).toBeUndefined();
  const said = face.messages.filter(({ method }) => method === 'notifications/message');
  expect(said.map(({ params }) => params?.data)).toEqual(['call 1', 'call 2', 'call 3']);
});

it('answers a request whose method no header to its server can hold', async () => {
  const upstream = await RecordingUpstream.start({});
  try {
    face = await FaceProcess.start('--upstream', upstream.url);
    face.request(1, 'x/\u{1f600}', { _meta });
    expect((await face.answer(1)).error).toMatchObject({ code: -32600 });
    expect(upstream.with('x/\u{1f600}')).toEqual([]);
  } finally {
    await upstream.stop();
  }
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { gauge } from '../../helpers/fault-checks.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RawSocket } from '../../helpers/raw-socket.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

interface Offered {
  structuredContent: { upload: { url: string } };
}

let upstream: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  const inputSchema = { type: 'object', properties: { file: { type: 'string' } } };
  upstream = await RecordingUpstream.start({ tools: [{ name: 'take', inputSchema }] });
  const tools = { take: { files: { file: { encoding: 'base64' } } } };
  wharf = await startWharf({ servers: { lab: { url: upstream.url, tools } } });
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
});

const open = () => gauge(wharf.adminUrl, 'wharf_open_exchanges');

describe('A client that leaves in the midst of an upload', () => {
  it.each(['ends', 'resets'])('and %s its connection is one that has gone, in the log', async (how) => {
    const client = await RawClient.connect(wharf.mcp);
    await client.request('tools/list');
    const { result } = await client.call('request_file_upload');
    const { pathname } = new URL((result as unknown as Offered).structuredContent.upload.url);
    await until(async () => (await open()) === 0);
    const before = wharf.lines.length;
    const socket = await RawSocket.open(Number(new URL(wharf.url).port));
    socket.head(`PUT ${pathname}`, { 'Content-Length': 1000 });
    socket.send('some of it');
    await until(async () => (await open()) === 1);
    if (how === 'ends') socket.end();
    else socket.reset();
    await until(() => wharf.lines.slice(before).some(({ text }) => text === 'upload'));
    const told = wharf.lines.slice(before).filter(({ level }) => level !== 'debug');
    expect(told.map(({ text, fields: { outcome, error } }) => ({ text, outcome, error }))).toEqual([
      { text: 'upload', outcome: 'aborted', error: 'client_gone' },
    ]);
  });
});

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { gauge } from '../../helpers/fault-checks.js';
import { PIXEL } from '../../helpers/pixel.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** F4 of the acceptance tables, with a name. */
const F4 = 'data:application/octet-stream;name=x.bin;base64,AAEC/f7/';
const TEXT = 'data:text/plain;name=hello.txt;base64,SGVsbG8gd29ybGQh';

const TEMPLATE = { data: '$base64', mimeType: '$mime', name: '$name', size: '$size' };
const FILES: Record<string, Record<string, unknown>> = {
  base64: { encoding: 'base64' },
  base64url: { encoding: 'base64url' },
  hex: { encoding: 'hex' },
  dataUri: { encoding: 'dataUri' },
  dataUriNamed: { encoding: 'dataUriNamed' },
  text: { encoding: 'text' },
  object: { encoding: 'object', template: TEMPLATE },
  bytes: { encoding: 'bytes' },
  httpsUrl: { encoding: 'httpsUrl' },
};
const properties = Object.fromEntries(Object.keys(FILES).map((name) => [name, { type: 'string' }]));

const DECLARED = {
  base64url: { type: 'string', contentEncoding: 'base64url', maxLength: 8 },
  base16: { type: 'string', contentEncoding: 'BASE16', maxLength: 12 },
};

describe('a file in every encoding of an HTTP server', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: [
        { name: 'take', inputSchema: { type: 'object', properties } },
        { name: 'declared', inputSchema: { type: 'object', properties: DECLARED } },
      ],
    });
    wharf = await startWharf({ servers: { legacy: { url: upstream.url, tools: { take: { files: FILES } } } } });
    client = await RawClient.connect(wharf.mcp);
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  it.each([
    ['base64', 'AAEC/f7/'],
    ['base64url', 'AAEC_f7_'],
    ['hex', '000102fdfeff'],
    ['dataUri', 'data:application/octet-stream;base64,AAEC/f7/'],
    ['dataUriNamed', 'data:application/octet-stream;name=x.bin;base64,AAEC/f7/'],
    ['object', { data: 'AAEC/f7/', mimeType: 'application/octet-stream', name: 'x.bin', size: 6 }],
    ['bytes', [0, 1, 2, 253, 254, 255]],
  ])('%s is exactly what the server always took', async (argument, expected) => {
    const { result } = await client.call('take', { [argument]: F4, other: 1e3 });
    expect(result).toEqual({ content: [{ type: 'text', text: 'done' }] });
    expect(upstream.lastArguments).toEqual({ [argument]: expected, other: 1000 });
  });

  it('a text in another charset says so to a server of data: URIs, with its name and without', async () => {
    const given = { name: 'data:text/csv;charset=iso-8859-1;name=a.csv;base64,/A==' };
    await client.call('take', { dataUri: given.name, dataUriNamed: given.name });
    const plain = 'data:text/csv;charset=iso-8859-1;base64,/A==';
    expect(upstream.lastArguments).toEqual({ dataUri: plain, dataUriNamed: given.name });
    await client.call('take', { dataUri: given.name.replace(';name=a.csv', '').replace('/A==', '/A') });
    expect(upstream.lastArguments).toEqual({ dataUri: plain });
    const picture = PIXEL.toString('base64');
    await client.call('take', { dataUri: `data:text/csv;charset=utf-8;name=a.png;base64,${picture}` });
    expect(upstream.lastArguments).toEqual({ dataUri: `data:image/png;base64,${picture}` });
  });

  it.each(['AAEC_f7_', 'AAEC_f4', 'AA'])('a server of base64url gets %s as it was sent', async (base64url) => {
    await client.call('take', { base64url });
    expect(upstream.lastArguments).toEqual({ base64url });
  });

  it('a schema may declare the encodings of RFC 4648', async () => {
    const { result } = await client.request('tools/list');
    expect(JSON.stringify(result).match(/"maxSize":6,/g)).toHaveLength(2);
    await client.call('declared', { base64url: F4, base16: F4 });
    expect(upstream.lastArguments).toEqual({ base64url: 'AAEC_f7_', base16: '000102fdfeff' });
    await client.call('declared', { base64url: 'AAEC_f4', base16: '00FF' });
    expect(upstream.lastArguments).toEqual({ base64url: 'AAEC_f4', base16: '00FF' });
    const refused = await client.call('declared', { base16: 'data:,1234567' });
    expect(refused.result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { maxSize: 6 } } });
  });

  it('text is the text itself, and bytes that are not text are refused', async () => {
    await client.call('take', { text: TEXT });
    expect(upstream.lastArguments).toEqual({ text: 'Hello world!' });
    const { result } = await client.call('take', { text: F4 });
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason: 'notText' } } });
  });

  it('httpsUrl is a link under which the server finds the bytes (P11)', async () => {
    await client.call('take', { httpsUrl: F4 });
    const answer = await fetch(String(upstream.lastArguments.httpsUrl));
    expect(Buffer.from(await answer.arrayBuffer()).toString('base64')).toBe('AAEC/f7/');
  });
});

describe('a file as a path of a stdio server', () => {
  const script = fileURLToPath(new URL('../../../../test/helpers/recording-stdio.fixture.mjs', import.meta.url));
  const start = (encoding: string, more: Record<string, unknown> = {}) => {
    const tools = { take: { files: { file: { encoding } } } };
    return startWharf({ servers: { local: { command: [process.execPath, script], tools, ...more } } });
  };

  it.each(['localPath', 'fileUri'])('%s is a private file that is gone after the call (P10)', async (encoding) => {
    const wharf = await start(encoding);
    try {
      const client = await RawClient.connect(wharf.mcp);
      const { result } = await client.call('take', { file: F4 });
      const told = JSON.parse(String(result?.content?.[0]?.text)) as Record<string, string>;
      const expected = sha256(Buffer.from('AAEC/f7/', 'base64'));
      expect(told).toMatchObject({ sha256: expected, mode: '600', folderMode: '700' });
      expect(told.path).toMatch(/\/x\.bin$/);
      expect(existsSync(String(told.path))).toBe(false);
    } finally {
      await wharf.stop();
    }
  });

  it('it stays as long as the tool works on it, even if the client has gone (P10)', async () => {
    const wharf = await start('localPath');
    try {
      const client = await RawClient.connect(wharf.mcp);
      const gone = new AbortController();
      const held = { name: 'take', arguments: { file: F4, hold: true } };
      await client.open('tools/call', held, { accept: 'text/event-stream' }, gone.signal);
      // lines are taken in order: when this is answered, the server has the file
      await client.call('other');
      gone.abort();
      await until(async () => (await gauge(wharf.adminUrl, 'wharf_open_exchanges')) === 0);
      const { result } = await client.call('look');
      const { path, mode } = JSON.parse(String(result?.content?.[0]?.text)) as Record<string, string>;
      expect(mode).toBe('600');
      await until(() => !existsSync(String(path)));
    } finally {
      await wharf.stop();
    }
  });

  it.each([
    ['data:application/pdf;base64,JVBERi0xLjQK', /\/file\.pdf$/],
    ['data:;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', /\/file\.png$/],
    ['data:text/csv,a;b', /\/file\.csv$/],
    ['data:application/octet-stream;base64,AAEC/f7/', /\/file\.bin$/],
  ])('the path of a file without a name has the ending of its type: %s', async (file, ending) => {
    const wharf = await start('localPath');
    try {
      const client = await RawClient.connect(wharf.mcp);
      const { result } = await client.call('take', { file });
      expect(JSON.parse(String(result?.content?.[0]?.text)).path).toMatch(ending);
    } finally {
      await wharf.stop();
    }
  });

  it('a path that the caller wrote is not a file of Wharf and goes as it came', async () => {
    const wharf = await start('localPath');
    try {
      const client = await RawClient.connect(wharf.mcp);
      const { result } = await client.call('take', { file: '/etc/hostname' });
      expect(JSON.parse(String(result?.content?.[0]?.text))).toMatchObject({ path: '/etc/hostname' });
    } finally {
      await wharf.stop();
    }
  });

  it('what the server cannot take is refused before its first byte, and names what it takes', async () => {
    const wharf = await start('base64', { accepts: '4KiB' });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const big = `data:application/octet-stream;base64,${Buffer.alloc(6000).toString('base64')}`;
      const { result } = await client.call('take', { file: big });
      expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason: 'maxSizeExceeded' } } });
      expect(String(result?.content?.[0]?.text)).toMatch(/a file of 6 kB.* at most 2\.3 kB/);
      await until(() => wharf.logged().includes('"limit":"servers.local.accepts"'));
      const { result: small } = await client.call('take', { file: F4 });
      expect(JSON.parse(String(small?.content?.[0]?.text))).toEqual({ value: 'AAEC/f7/' });
    } finally {
      await wharf.stop();
    }
  });
});

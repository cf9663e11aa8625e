import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PIXEL } from '../../helpers/pixel.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const PNG = PIXEL.toString('base64');
const properties = Object.fromEntries(['image', 'small', 'text', 'any'].map((name) => [name, { type: 'string' }]));
const TOOL = { name: 'take', inputSchema: { type: 'object', properties: { ...properties, list: { type: 'array' } } } };

let upstream: RecordingUpstream;
let other: RecordingUpstream;
let wharf: Wharf;
let client: RawClient;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({ tools: [TOOL] });
  const shot = { type: 'image', data: Buffer.alloc(600_000, 7).toString('base64'), mimeType: 'image/png' };
  other = await RecordingUpstream.start({
    tools: [{ name: 'shoot', inputSchema: { type: 'object' } }],
    methods: { 'tools/call': () => ({ content: [shot] }) },
  });
  const files = {
    image: { encoding: 'base64', accept: ['image/png', 'image/jpeg'] },
    small: { encoding: 'base64', maxSize: '1KiB' },
    text: { encoding: 'text' },
    any: { encoding: 'base64' },
    'list[]': { encoding: 'base64', maxSize: '1KiB' },
  };
  wharf = await startWharf({
    servers: {
      docs: { url: upstream.url, transport: 'streamable-http', accepts: '1MiB', tools: { take: { files } } },
      camera: { url: other.url, transport: 'streamable-http' },
    },
    config: {
      handoff: [{ from: 'camera', to: 'docs', allow: false }],
      limits: { inlineArgument: '64KiB' },
    },
  });
  client = await RawClient.connect(`${wharf.url}/docs/mcp`);
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
  await other?.stop();
});

interface Offered {
  file: { uri: string };
  page: string;
}

async function offered(announced: Record<string, unknown>): Promise<Offered> {
  const { result } = await client.call('request_file_upload', announced);
  return result?.structuredContent as unknown as Offered;
}

/** The handle of an upload, with its bytes if there are any. */
async function handle(bytes?: Buffer, announced: Record<string, unknown> = {}): Promise<string> {
  const { file, page } = await offered(announced);
  if (bytes) await fetch(page, { method: 'PUT', body: new Uint8Array(bytes) });
  return file.uri;
}

async function fromCamera(): Promise<string> {
  const { result } = await (await RawClient.connect(`${wharf.url}/camera/mcp`)).call('shoot');
  const meta = result?._meta as { 'dev.wharf/files': { uri: string }[] } | undefined;
  return meta?.['dev.wharf/files'][0]?.uri ?? '';
}

/** Where a file was meant that is not there: an upload is the way to it. */
const OFFERED = new Set(['schemeNotAllowed', 'malformedUri', 'fileNotFound', 'fileExpired', 'uploadIncomplete']);

const dataUri = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`;

type Case = readonly [
  reason: string,
  argument: string,
  value: () => unknown,
  /** Names the constraint and the actual value. */
  words: RegExp,
  /** What programs are told besides. */
  facts?: Record<string, unknown>,
];

const CASES: readonly Case[] = [
  [
    'maxSizeExceeded',
    'small',
    () => dataUri('text/plain', Buffer.alloc(1025)),
    /is a file of 1025 bytes, and this tool takes files of at most 1024 bytes/,
    { maxSize: 1024, actualSize: 1025 },
  ],
  [
    'maxSizeExceeded',
    'small',
    () => handle(Buffer.alloc(2000)),
    /is a file of 2 kB, and this tool takes files of at most 1 kB/,
    { maxSize: 1024, actualSize: 2000 },
  ],
  [
    'maxSizeExceeded',
    'any',
    () => dataUri('a/b', Buffer.alloc(65_537)),
    /65537 bytes, and at most 65536 bytes may be inside a call: upload it, and pass its handle/,
    { maxSize: 65_536, actualSize: 65_537 },
  ],
  [
    'maxSizeExceeded',
    'any',
    () => handle(Buffer.alloc(800_000)),
    /is a file of 800 kB, and this tool takes files of at most 7\d\d\.\d kB/,
    { actualSize: 800_000 },
  ],
  [
    'mimeTypeNotAccepted',
    'image',
    () => 'data:text/plain,hello',
    /is text\/plain; accepted are: image\/png, image\/jpeg/,
    { accept: ['image/png', 'image/jpeg'], actualType: 'text/plain' },
  ],
  [
    'mimeTypeNotAccepted',
    'image',
    () => dataUri('image/png', Buffer.from('%PDF-1.7\n%%EOF')),
    /is application\/pdf; accepted/,
    { actualType: 'application/pdf' },
  ],
  [
    'mimeTypeNotAccepted',
    'image',
    () => handle(Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00\x00;')),
    /is image\/gif; accepted/,
  ],
  [
    'malformedUri',
    'any',
    () => 'data:image/png;base64',
    /not a valid data: URI.*: it has no comma.* \(21 characters\)/,
  ],
  [
    'malformedUri',
    'any',
    () => 'data:image/png;base64,a*b',
    /: a character at character 24 is not base64 \(25 characters\)/,
  ],
  ['malformedUri', 'any', () => 'no file', /neither a file handle, nor a data: URI, nor base64/],
  ['malformedUri', 'any', () => `${'A'.repeat(99)}*`, /nor base64 \(100 characters\)/],
  [
    'schemeNotAllowed',
    'any',
    () => 'https://example.com/a.png',
    /not a link to a file of yours, and other addresses are not followed; upload the file and pass its handle/,
  ],
  ['schemeNotAllowed', 'any', () => 'file:///etc/passwd', /is a file: address.* upload the file and pass its handle/],
  ['schemeNotAllowed', 'any', () => 's3://bucket/key', /is an s3: address, which is not followed here/],
  ['schemeNotAllowed', 'any', () => 'ftp://host/file', /is an ftp: address/],
  ['schemeNotAllowed', 'any', () => 'gs://bucket/key', /is a gs: address/],
  [
    'malformedUri',
    'any',
    () => 'Fotos für Ann.jpeg',
    /is the name of a file, and its bytes are needed; upload the file/,
  ],
  ['malformedUri', 'any', () => ' \n', /neither a file handle, nor a data: URI, nor base64/],
  ['schemeNotAllowed', 'any', () => '/etc/passwd', /is a path, which only your own computer can read; upload the file/],
  [
    'schemeNotAllowed',
    'any',
    () => 'C:\\Users\\Ann\\My pictures\\größe.png',
    /is a path, which only your own computer can read/,
  ],
  ['schemeNotAllowed', 'any', () => 'javascript:alert(1)', /is a javascript: address/],
  [
    'fileNotFound',
    'any',
    () => 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA',
    /not the handle of a file of yours; copy the handle whole/,
  ],
  ['fileNotFound', 'any', () => 'mcp-file://wharf/f_short', /not the handle of a file of yours/],
  ['uploadIncomplete', 'any', () => handle(), /has not been uploaded yet; upload it first/],
  ['handoffDenied', 'any', fromCamera, /from "camera" to "docs" is switched off/],
  [
    'notText',
    'text',
    () => dataUri('application/zip', Buffer.from([0xff, 0xfe, 0x00])),
    /takes text, and the file \(\S+, 3 bytes\) is not UTF-8/,
  ],
  [
    'maxSizeExceeded',
    'list',
    () => ['data:,ok', dataUri('a/b', Buffer.alloc(1025))],
    /^Argument 'list\[1\]' is a file of 1025 bytes/,
    { argument: 'list[1]' },
  ],
];

describe('a refusal names the argument, the constraint and the actual value', () => {
  it.each(CASES)('%s of %s', async (reason, argument, value, words, facts = {}) => {
    const before = upstream.with('tools/call').length;
    const { result } = await client.call('take', { [argument]: await value() });
    expect(result?.content).toHaveLength(1);
    const text = String(result?.content?.[0]?.text);
    expect(text).toMatch(words);
    expect(text.startsWith(`Argument '${argument}`)).toBe(true);
    expect(result?.isError).toBe(true);
    expect(result?.structuredContent).toBeUndefined();
    const { 'dev.wharf/uploadRequired': offer, ...meta } = (result?._meta ?? {}) as Record<string, unknown>;
    expect(meta).toEqual({ 'dev.wharf/fileError': expect.objectContaining({ reason, argument, ...facts }) });
    // what is too large for a call, or was never there, may still be uploaded
    const isMended = OFFERED.has(reason) || text.includes('inside a call');
    expect(offer !== undefined).toBe(isMended);
    expect(/\/u\/[\w-]{43}/.test(text)).toBe(isMended);
    expect(upstream.with('tools/call')).toHaveLength(before);
  });

  it('holds nothing of the value', async () => {
    const secret = Buffer.from('a secret that nobody may read, in a file that is refused').toString('base64');
    const { answer } = await client.call('take', { image: `data:text/plain;base64,${secret}` });
    expect(answer.text).not.toContain(secret.slice(0, 20));
    expect(wharf.logged()).not.toContain(secret.slice(0, 20));
  });

  it('is one of an upload where the bytes are not what was announced', async () => {
    for (const [announced, reason] of [
      [{ sha256: '0'.repeat(64) }, 'digestMismatch'],
      [{ size: 5 }, 'sizeMismatch'],
      [{ mimeType: 'image/jpeg' }, 'mimeTypeNotAccepted'],
    ] as const) {
      const { page } = await offered(announced);
      const answer = await fetch(page, { method: 'PUT', body: new Uint8Array(Buffer.from(PNG, 'base64')) });
      expect(await answer.json()).toMatchObject({ error: { reason } });
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const BYTES = Buffer.from('a small file of the hr server, short enough to stay in its message as it is');
const DATA = BYTES.toString('base64');

const text = { type: 'string' };
const object = (properties: object) => ({ type: 'object', properties });
const file = { type: 'string', contentEncoding: 'base64' };
const filesLike = (pattern: string) => ({ type: 'object', patternProperties: { [pattern]: file } });
const TOOLS = [
  { name: 'take', inputSchema: object({ file: text }) },
  { name: 'list', inputSchema: object({ files: { type: 'array', items: text } }) },
  { name: 'bind', inputSchema: object({ book: object({ pages: { type: 'array', items: object({ scan: text }) } }) }) },
  // these say themselves where their files are
  { name: 'pick', inputSchema: object({ files: filesLike('^(?=img)') }) },
  { name: 'name', inputSchema: object({ files: filesLike('^img') }) },
  { name: 'rest', inputSchema: object({ files: { type: 'object', additionalProperties: file } }) },
];
const SLOTS = { take: 'file', list: 'files[]', bind: 'book.pages[].scan' };

/** A file where a generous server would find it, and Wharf would not. */
const HIDDEN: [tool: string, args: object][] = [
  ['take', { file: [DATA] }],
  ['take', { file: { data: `data:text/plain;base64,${DATA}` } }],
  ['list', { files: { 0: DATA } }],
  ['list', { files: [[DATA]] }],
  ['bind', { book: JSON.stringify({ pages: [{ scan: DATA }] }) }],
  ['bind', { book: { pages: JSON.stringify([{ scan: DATA }]) } }],
  ['bind', { book: { pages: [JSON.stringify({ scan: DATA })] } }],
  ['bind', { book: { pages: { scan: DATA } } }],
  ['bind', { book: JSON.stringify(JSON.stringify({ pages: [{ scan: DATA }] })) }],
  ['bind', { book: { pages: [DATA] } }],
  // some servers, in Go say, ignore the case of a member, and some in C what is behind a NUL
  ['take', { File: DATA }],
  ['take', { file: null, FILE: DATA }],
  ['take', { 'file\0': DATA }],
  ['list', { fileſ: [DATA] }],
  ['bind', { book: { Pages: [{ scan: DATA }] } }],
  ['bind', { book: { pages: [{ scan: null }, { SCAN: DATA }] } }],
  // some in JavaScript copy members by assigning them
  ['take', behind({ file: DATA })],
  ['bind', { book: behind({ pages: [{ scan: DATA }] }) }],
];

/** An object with these members of its prototype, in the eyes of a server that has copied it. */
function behind(members: object): object {
  return JSON.parse(`{"__proto__":${JSON.stringify(members)}}`) as object;
}

/** More values than are parsed of one call. */
const LONG = Array(100_001).fill(0);

const MANY = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`${'n'.repeat(1000)}${index}`, 'short']));

/** A file of which it is not found out that it is one: whether its name matches the tool's pattern is not decided. */
const UNDECIDED: [what: string, tool: string, args: object][] = [
  ['by a pattern that looks ahead', 'pick', { files: { img_a: DATA } }],
  ['behind many names', 'name', { files: { ...MANY, img_a: DATA } }],
  ['behind many names, in an object', 'name', { files: { ...MANY, img_a: { data: DATA } } }],
  ['by a name that cannot be replaced', 'rest', JSON.parse(`{"files":{"__proto__":"${DATA}"}}`) as object],
];

/** What has another form too, and no room for a file. */
const HARMLESS: typeof HIDDEN = [
  ['take', { file: null }],
  [
    'take',
    { file: { url: 'https://shop.example/a-picture-with-a-long-name/and-a-long-path/of-more-than-64-letters.png' } },
  ],
  ['bind', { book: 'https://shop.example/a-picture-with-a-long-name/and-a-long-path/of-more-than-64-letters.png' }],
  ['bind', { book: JSON.stringify({ pages: [] }) }],
  ['take', behind({ file: 'a word' })],
  ['bind', { Book: { Pages: [{ Scan: 'a word' }] }, books: DATA }],
  ['bind', { book: 'A book about the sea, of many pages, which nobody has read to its end so far, they say.' }],
];

let giving: RecordingUpstream;
let taking: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  giving = await RecordingUpstream.start({
    tools: [{ name: 'give', inputSchema: { type: 'object' } }],
    methods: { 'tools/call': () => ({ content: [{ type: 'image', mimeType: 'image/png', data: DATA }] }) },
  });
  taking = await RecordingUpstream.start({ tools: TOOLS });
  const tools = Object.fromEntries(
    Object.entries(SLOTS).map(([name, path]) => [name, { files: { [path]: { encoding: 'base64' } } }]),
  );
  const to = { url: taking.url, transport: 'streamable-http', tools };
  wharf = await startWharf({
    servers: { hr: { url: giving.url, transport: 'streamable-http' }, web: to, archive: to },
    config: { flow: [{ allow: { from: 'hr', to: 'archive' } }, { deny: { to: 'web' } }] },
  });
  await (await RawClient.connect(`${wharf.url}/hr/mcp`)).call('give');
});

afterAll(async () => {
  await wharf?.stop();
  await giving?.stop();
  await taking?.stop();
});

async function isSent(server: string, tool: string, args: object): Promise<boolean> {
  const before = taking.with('tools/call').length;
  await (await RawClient.connect(`${wharf.url}/${server}/mcp`)).call(tool, args as Record<string, unknown>);
  return taking.with('tools/call').length > before;
}

describe('A file argument with a name that is not decided', () => {
  it.each(UNDECIDED)('is kept from a server from which rules keep files: %s', async (_, tool, args) => {
    expect(await isSent('web', tool, args)).toBe(false);
    expect(await isSent('archive', tool, args)).toBe(true);
  });

  it('is refused in words', async () => {
    const answer = await (await RawClient.connect(`${wharf.url}/web/mcp`)).call('name', {
      files: { ...MANY, img_a: DATA },
    });
    expect(JSON.stringify(answer)).toContain(
      "Argument 'files.img_a' may hold a file, and Wharf cannot tell whether the patterns of the tool's schema mean it, " +
        'so that rules about files cannot be kept. Pass fewer members, with shorter names.',
    );
  });

  it('passes where no file can be in it', async () => {
    expect(await isSent('web', 'pick', { files: { img_a: 'a word' } })).toBe(true);
    expect(await isSent('web', 'name', { files: { ...MANY, img_a: 'a word' } })).toBe(true);
  });
});

describe('A file argument in another form than its tool has', () => {
  it.each(HIDDEN)('is kept from a server from which rules keep files: %s %j', async (tool, args) => {
    expect(await isSent('web', tool, args)).toBe(false);
    expect(await isSent('archive', tool, args)).toBe(true);
  });

  it.each(HIDDEN.slice(-8))('is kept from it among very many values: %s %j', async (tool, args) => {
    expect(await isSent('web', tool, { ...args, long: LONG })).toBe(false);
    expect(await isSent('archive', tool, { ...args, long: LONG })).toBe(true);
  });

  it('passes among very many values where no file can be in it', async () => {
    expect(await isSent('web', 'take', { File: 'a word', long: LONG, LONG: DATA })).toBe(true);
  });

  it.each(HARMLESS)('passes where no file can be in it: %s %j', async (tool, args) => {
    expect(await isSent('web', tool, args)).toBe(true);
  });
});

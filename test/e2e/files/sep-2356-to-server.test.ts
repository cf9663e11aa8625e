import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { type FaultStores, filesystemStores } from '../../helpers/fault-stores.js';
import { F1, F2, F4, inTurn, type Lab, lab, type Row, refuses, sends } from './recording-lab.js';
import { bytesOf, dataUri, declared, handleIn, PDF, tool } from './sep-2356-lab.js';

const PLAIN = { type: 'string', format: 'uri' };
const NAME = { type: 'string' };
/** A file without a name, and with one. */
const [DATA, NAMED] = [dataUri('application/pdf', PDF), dataUri('application/pdf', PDF, 'a.pdf')];
const BIG = Buffer.concat([F2, Buffer.alloc(600_000, 7)]);

const TOOLS = [
  tool('now', { file: declared() }),
  tool('named', { file: declared(), filename: NAME }),
  tool('crop', { photo: declared(), filename: NAME, photo_name: NAME }),
  tool('album', { photos: { type: 'array', items: declared() }, photoNames: { type: 'array', items: NAME } }),
  tool('pair', { left: declared(), right: declared(), rightFilename: NAME, filename: NAME }),
  tool('inner', { doc: { type: 'object', properties: { file: declared(), fileName: { type: ['string', 'null'] } } } }),
  tool('kinds', { file: declared(), filename: { type: 'string', enum: ['a', 'b'] }, name: NAME }),
  tool('either', { file: { anyOf: [declared(), { type: 'integer' }, { type: 'null' }] } }),
  tool('modes', { file: { type: 'string', 'x-mcp-file': { transferModes: ['inline', 'upload'] } } }),
  tool('old', { file: { ...PLAIN, mcpFile: { filenameProperty: 'called' } }, called: NAME, filename: NAME }),
  tool('oldest', { file: PLAIN, filename: NAME }, { inputFiles: { file: {} } }),
  tool('both', { file: declared() }, { inputFiles: { file: {} } }),
  tool('shoot', {}),
];

describe('SEP-2356: what servers that declare file arguments get', () => {
  let servers: Lab;
  let stores: FaultStores;
  let handle: unknown;

  beforeAll(async () => {
    stores = await filesystemStores();
    servers = await lab(TOOLS, {
      config: stores.config,
      server: { tools: { named: { files: { file: { encoding: 'dataUri', name: 'filename' } } } } },
      methods: {
        'tools/call': ({ name }) =>
          name === 'shoot'
            ? { content: [{ type: 'resource', resource: { uri: 'x:///shot.png', blob: BIG.toString('base64') } }] }
            : { content: [{ type: 'text', text: 'done' }] },
      },
    });
    await servers.client.request('tools/list');
    const { result } = await servers.client.call('shoot');
    handle = handleIn(result);
  });

  afterAll(async () => {
    await servers?.stop();
    await stores.close();
  });

  it('a handle becomes a data: URI with the whole file in it (P3, 2356-14)', async () => {
    const { file } = await servers.sent('now', { file: handle });
    expect(String(file).slice(0, 22)).toBe('data:image/png;base64,');
    expect(sha256(bytesOf(file))).toBe(sha256(BIG));
  });

  it.each([7, true, {}, [], { a: 1 }, ['data:,A']])('%j is not a file, and not sent (2356-14)', async (file) => {
    expect(await servers.refused('now', { file })).toEqual({ reason: 'malformedUri', argument: 'file' });
    expect(await servers.refused('album', { photos: ['data:,A', file] })).toMatchObject({ argument: 'photos[1]' });
  });

  it.each<Row>([
    [
      'unless the server takes that as well (2356-14)',
      sends('either', { file: 7 }),
      sends('either', { file: null }),
      refuses('either', { file: true }, expect.objectContaining({ argument: 'file' })),
    ],
    [
      'bytes of no known type are application/octet-stream (2356-15)',
      sends('named', { file: F4.toString('base64') }, { file: dataUri('application/octet-stream', F4) }),
    ],
    [
      'what Wharf encodes is padded base64, and url-safe base64 is refused (2356-16)',
      sends(
        'oldest',
        { file: 'data:application/octet-stream,%00%01%02%fd' },
        { file: 'data:application/octet-stream;base64,AAEC/Q==' },
      ),
      refuses(
        'now',
        { file: 'data:application/octet-stream;base64,AAEC_f4' },
        { reason: 'malformedUri', argument: 'file' },
      ),
    ],
  ])('%s', (_sentence, ...calls) => inTurn(calls, servers));

  it.each([
    ['percent-encoded', 'data:text/plain,hello%20world', 'hello world'],
    ['without a type', 'data:,A', 'A'],
    ['base64', 'data:text/plain;base64,SGVsbG8gd29ybGQh', 'Hello world!'],
  ])('a URI that is %s is taken, and its bytes arrive (2356-17)', async (_how, file, expected) => {
    const sent = await servers.sent('oldest', { file });
    expect(bytesOf(sent.file).toString()).toBe(expected);
  });

  it.each([
    ['base64', dataUri('image/png', F2)],
    ['percent-encoded', 'data:text/plain;charset=utf-8,hello%20world'],
    ['a type that the bytes contradict', dataUri('image/png', PDF)],
    ['another case', 'DATA:Text/Plain;BASE64,SGVsbG8gd29ybGQh'],
  ])('a URI goes on verbatim: %s (2356-24)', async (_what, file) => {
    expect(await servers.sent('now', { file })).toEqual({ file });
  });

  it.each([' ', '"', '`'])('but without the %j that a model puts around it (2356-14)', async (mark) => {
    const uri = dataUri('text/plain', F1);
    expect(await servers.sent('now', { file: `${mark}${uri}${mark}` })).toEqual({ file: uri });
    expect(await servers.sent('oldest', { file: `${mark}${uri}${mark}` })).toEqual({ file: uri });
  });

  it('the server sees the URI whole, however long (2356-23)', async () => {
    const file = dataUri('application/octet-stream', Buffer.alloc(2_500_000, 3));
    const sent = await servers.sent('now', { file });
    expect(sha256(Buffer.from(String(sent.file)))).toBe(sha256(Buffer.from(file)));
  });

  it.each<Row>([
    [
      'a name in the URI is taken out, and goes where the config says (2356o-12)',
      sends('named', { file: NAMED }, { file: DATA, filename: 'a.pdf' }),
      sends('now', { file: NAMED }, { file: DATA }),
    ],
    [
      'or into the argument whose name says that it is for that (2356-19, 2356o-12)',
      sends('crop', { photo: NAMED }, { photo: DATA, photo_name: 'a.pdf' }),
      sends('crop', { photo: NAMED, photo_name: 'b' }, { photo: DATA, photo_name: 'b' }),
      sends('album', { photos: [NAMED, NAMED] }, { photos: [DATA, DATA], photoNames: ['a.pdf', 'a.pdf'] }),
      sends('inner', { doc: { file: NAMED } }, { doc: { file: DATA, fileName: 'a.pdf' } }),
    ],
    [
      'which is none that could be for another file, or takes no name (2356-19)',
      sends('pair', { left: NAMED, right: NAMED }, { left: DATA, right: DATA, rightFilename: 'a.pdf' }),
      sends('kinds', { file: NAMED }, { file: DATA }),
    ],
    [
      'what stands behind ;base64 is no name, and is not passed on (2356o-10)',
      sends('named', { file: `data:application/pdf;base64;name=a.pdf,${PDF.toString('base64')}` }, { file: DATA }),
    ],
    [
      'filenameProperty names the argument for the name, and no other is guessed (2356o-19, P5)',
      sends('old', { file: NAMED }, { file: DATA, called: 'a.pdf' }),
    ],
    [
      'one that has its name the way a server of then takes it goes on verbatim (2356-24, P4)',
      sends('oldest', { file: 'data:application/octet-stream;name=a%20b.txt;base64,SGVsbG8gd29ybGQh' }),
      sends(
        'oldest',
        { file: 'data:text/plain;name=a.txt;name=..%2Fb;base64,SGVsbG8gd29ybGQh' },
        { file: dataUri('text/plain', F1, 'a.txt') },
      ),
    ],
    [
      'the early revisions get the name inside, percent-encoded (2356o-08, P4)',
      sends('oldest', { file: dataUri('application/pdf', PDF, 'Report%20%28v2%29%3B%20final.pdf') }),
    ],
    [
      'the early revisions never get the percent form (2356o-07)',
      sends('oldest', { file: 'data:text/plain,Hello%20world!' }, { file: dataUri('text/plain', F1) }),
    ],
    [
      'a name is no path, and says nothing of the type (2356o-11)',
      sends(
        'oldest',
        { file: dataUri('text/plain', F1, '..%2F..%2Fetc%2Fpasswd') },
        { file: dataUri('text/plain', F1, 'passwd') },
      ),
      sends('oldest', { file: dataUri('text/plain', F1, 'x.png') }),
    ],
    ['a server that declares both ways is one of the later (2356o-12)', sends('both', { file: NAMED }, { file: DATA })],
    [
      'an argument with transfer modes takes a file inline (2356-04)',
      sends('modes', { file: dataUri('image/png', F2) }),
    ],
  ])('%s', (_sentence, ...calls) => inTurn(calls, servers));

  it('bytes are opaque: nothing in them is opened or expanded (2356-56)', async () => {
    const svg = Buffer.from(
      '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg">&x;</svg>',
    );
    const sent = await servers.sent('oldest', { file: dataUri('image/svg+xml', svg, 'x.svg') });
    expect(sha256(bytesOf(sent.file))).toBe(sha256(svg));
  });

  it('of a file that came inside a call nothing is kept (2356-54)', async () => {
    const file = dataUri('application/octet-stream', F4);
    const before = await stores.objects();
    expect(before).not.toEqual([]);
    const { result } = await servers.client.call('now', { file });
    expect(servers.upstream.lastArguments).toEqual({ file });
    expect(JSON.stringify(result)).not.toContain('mcp-file:');
    expect(await stores.objects()).toEqual(before);
    expect(await stores.unfinished()).toBe(0);
    expect(servers.wharf.logged()).not.toContain('AAEC/f7/');
  });
});

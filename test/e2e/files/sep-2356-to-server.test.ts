import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { bytesOf, dataUri, declared, F1, F2, F4, handleIn, type Lab, lab, PDF, tool } from './sep-2356-lab.js';

const PLAIN = { type: 'string', format: 'uri' };
const NAME = { type: 'string' };
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
  let handle: unknown;

  beforeAll(async () => {
    servers = await lab(TOOLS, {
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

  afterAll(() => servers.stop());

  it('a handle becomes a data: URI with the whole file in it (P3) (2356-14)', async () => {
    const { file } = await servers.sent('now', { file: handle });
    expect(String(file).slice(0, 22)).toBe('data:image/png;base64,');
    expect(sha256(bytesOf(file))).toBe(sha256(BIG));
  });

  it.each([7, true, {}, [], { a: 1 }, ['data:,A']])('%j is no file, and not sent (2356-14)', async (file) => {
    expect(await servers.refused('now', { file })).toEqual({ reason: 'malformedUri', argument: 'file' });
    expect(await servers.refused('album', { photos: ['data:,A', file] })).toMatchObject({ argument: 'photos[1]' });
  });

  it('unless the server takes that as well (2356-14)', async () => {
    for (const file of [7, null]) expect(await servers.sent('either', { file })).toEqual({ file });
    expect(await servers.refused('either', { file: true })).toMatchObject({ argument: 'file' });
  });

  it('bytes of no known type are application/octet-stream (2356-15)', async () => {
    const { file } = await servers.sent('named', { file: F4.toString('base64') });
    expect(file).toBe('data:application/octet-stream;base64,AAEC/f7/');
  });

  it('what Wharf encodes is padded base64, and url-safe base64 is refused (2356-16)', async () => {
    const sent = await servers.sent('oldest', { file: 'data:application/octet-stream,%00%01%02%fd' });
    expect(sent.file).toBe('data:application/octet-stream;base64,AAEC/Q==');
    const refused = await servers.refused('now', { file: 'data:application/octet-stream;base64,AAEC_f4' });
    expect(refused).toEqual({ reason: 'malformedUri', argument: 'file' });
  });

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

  it('a name in the URI is taken out, and goes where the config says (2356o-12)', async () => {
    expect(await servers.sent('named', { file: dataUri('application/pdf', PDF, 'a.pdf') })).toEqual({
      file: dataUri('application/pdf', PDF),
      filename: 'a.pdf',
    });
    expect(await servers.sent('now', { file: dataUri('application/pdf', PDF, 'a.pdf') })).toEqual({
      file: dataUri('application/pdf', PDF),
    });
  });

  it('or into the argument whose name says that it is for that (2356-19, 2356o-12)', async () => {
    const [data, named] = [dataUri('application/pdf', PDF), dataUri('application/pdf', PDF, 'a.pdf')];
    expect(await servers.sent('crop', { photo: named })).toEqual({ photo: data, photo_name: 'a.pdf' });
    expect(await servers.sent('crop', { photo: named, photo_name: 'b' })).toEqual({ photo: data, photo_name: 'b' });
    expect(await servers.sent('album', { photos: [named, named] })).toEqual({
      photos: [data, data],
      photoNames: ['a.pdf', 'a.pdf'],
    });
    expect(await servers.sent('inner', { doc: { file: named } })).toEqual({ doc: { file: data, fileName: 'a.pdf' } });
  });

  it('which is none that could be for another file, or takes no name (2356-19)', async () => {
    const [data, named] = [dataUri('application/pdf', PDF), dataUri('application/pdf', PDF, 'a.pdf')];
    expect(await servers.sent('pair', { left: named, right: named })).toEqual({
      left: data,
      right: data,
      rightFilename: 'a.pdf',
    });
    expect(await servers.sent('kinds', { file: named })).toEqual({ file: data });
  });

  it('what stands behind ;base64 is no name, and is not passed on (2356o-10)', async () => {
    const file = `data:application/pdf;base64;name=a.pdf,${PDF.toString('base64')}`;
    expect(await servers.sent('named', { file })).toEqual({ file: dataUri('application/pdf', PDF) });
  });

  it('filenameProperty names the argument for the name, and no other is guessed (2356o-19, P5)', async () => {
    expect(await servers.sent('old', { file: dataUri('image/png', F2, 'a.png') })).toEqual({
      file: dataUri('image/png', F2),
      called: 'a.png',
    });
  });

  it('one that has its name the way a server of then takes it goes on verbatim (2356-24, P4)', async () => {
    const file = 'data:application/octet-stream;name=a%20b.txt;base64,SGVsbG8gd29ybGQh';
    expect(await servers.sent('oldest', { file })).toEqual({ file });
    const twice = 'data:text/plain;name=a.txt;name=..%2Fb;base64,SGVsbG8gd29ybGQh';
    expect(await servers.sent('oldest', { file: twice })).toEqual({ file: dataUri('text/plain', F1, 'a.txt') });
  });

  it('the early revisions get the name inside, percent-encoded (2356o-08, P4)', async () => {
    const name = 'Report%20%28v2%29%3B%20final.pdf';
    const { file, filename } = await servers.sent('oldest', { file: dataUri('application/pdf', PDF, name) });
    expect(file).toBe(`data:application/pdf;name=${name};base64,${PDF.toString('base64')}`);
    expect(filename).toBeUndefined();
  });

  it('the early revisions never get the percent form (2356o-07)', async () => {
    const { file } = await servers.sent('oldest', { file: 'data:text/plain,Hello%20world!' });
    expect(file).toBe(dataUri('text/plain', F1));
  });

  it('a name is no path, and says nothing of the type (2356o-11)', async () => {
    const file = dataUri('text/plain', F1, '..%2F..%2Fetc%2Fpasswd');
    expect(await servers.sent('oldest', { file })).toEqual({ file: dataUri('text/plain', F1, 'passwd') });
    const image = dataUri('text/plain', F1, 'x.png');
    expect(await servers.sent('oldest', { file: image })).toEqual({ file: image });
  });

  it('a server that declares both ways is one of the later (2356o-12)', async () => {
    expect(await servers.sent('both', { file: dataUri('image/png', F2, 'a.png') })).toEqual({
      file: dataUri('image/png', F2),
    });
  });

  it('an argument with transfer modes takes a file inline (2356-04)', async () => {
    expect(await servers.sent('modes', { file: dataUri('image/png', F2) })).toEqual({ file: dataUri('image/png', F2) });
  });

  it('bytes are opaque: nothing in them is opened or expanded (2356-56)', async () => {
    const svg = Buffer.from(
      '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg">&x;</svg>',
    );
    const sent = await servers.sent('oldest', { file: dataUri('image/svg+xml', svg, 'x.svg') });
    expect(sha256(bytesOf(sent.file))).toBe(sha256(svg));
  });

  it('of a file that came inside a call nothing is kept (2356-54)', async () => {
    const file = dataUri('application/octet-stream', F4);
    const { result } = await servers.client.call('now', { file });
    expect(JSON.stringify(result)).not.toContain('mcp-file:');
    expect(servers.wharf.logged()).not.toContain('AAEC/f7/');
  });
});

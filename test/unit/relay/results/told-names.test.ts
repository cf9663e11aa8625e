import { describe, expect, it } from '@jest/globals';
import { nameAs, numbered } from '../../../../gateway/files/names/told-name.js';
import type { JsonObject } from '../../../../gateway/ports/json.js';
import { toldBy } from '../../../../gateway/relay/results/told-names.js';

const JPEG = { mimeType: 'image/jpeg', ext: 'jpg' };
const PDF = { mimeType: 'application/pdf', ext: 'pdf' };
const TEXT = { mimeType: 'text/plain', ext: 'txt' };
const BYTES = { mimeType: 'application/octet-stream', ext: 'bin' };

describe('what a call says that its file is called', () => {
  it.each<[JsonObject, string | string[] | undefined]>([
    [{ path: '/data/photos/harbour.jpg' }, 'harbour.jpg'],
    [{ path: 'C:\\photos\\harbour.jpg' }, 'harbour.jpg'],
    [{ url: 'https://example.com/a/b%20c.png?size=9#x' }, 'b c.png'],
    [{ url: 'https://example.com/' }, undefined],
    [{ uri: 'docs://shelf/report.pdf' }, 'report.pdf'],
    [{ name: 'home page' }, 'home page'],
    [{ title: 'home page' }, undefined],
    [{ path: '/data/photos' }, undefined],
    [{ query: 'harbour.jpg' }, undefined],
    [{ input: 'in.mov', output_path: 'out.gif' }, 'out.gif'],
    [{ name: 'x', file: 'a.pdf' }, 'a.pdf'],
    [{ 'File-Name': 'a.pdf' }, 'a.pdf'],
    [{ options: { source: { path: 'a.pdf' } } }, 'a.pdf'],
    [{ paths: ['a.png', 'b/c.jpg'] }, ['a.png', 'c.jpg']],
    [{ paths: ['a.png', 7] }, undefined],
    [{ paths: ['/data/a.pdf'] }, 'a.pdf'],
    [{ sources: [{ path: '/data/a.pdf', pages: '1-3' }] }, 'a.pdf'],
    [{ sources: [{ path: 'a.png' }, { url: 'https://example.com/b.jpg' }] }, ['a.png', 'b.jpg']],
    [{ files: [{ label: 'a.png', name: 'b.png', path: 'c.png' }] }, 'c.png'],
    [{ sources: [{ path: 'a.png' }, { pages: '1-3' }] }, undefined],
    [{ steps: [{ path: 'a.png' }] }, undefined],
    [{ file: 'data:image/png;base64,AAAA.png' }, undefined],
    [{ file: 'mcp-file://wharf/f_x.png' }, undefined],
    [{ path: `${'x'.repeat(5000)}.png` }, undefined],
    [{ path: 'a.png\nb.png' }, undefined],
    [{ path: '' }, undefined],
  ])('%j: %j', (args, expected) => {
    expect(toldBy(args)).toEqual(expected);
  });

  it('is not looked for in everything that a caller can send', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 'a.png']));
    expect(toldBy({ ...many, path: 'late.png' })).toBeUndefined();
    const deep = Array.from({ length: 9 }).reduce<JsonObject>((inner) => ({ inner }), { path: 'deep.png' });
    expect(toldBy(deep)).toBeUndefined();
  });
});

describe('a name that was told', () => {
  it.each([
    ['harbour.jpg', JPEG, 'harbour.jpg'],
    ['harbour.JPEG', JPEG, 'harbour.JPEG'],
    ['report.docx', PDF, 'report.pdf'],
    ['home page', JPEG, 'home page.jpg'],
    ['v1.2', JPEG, ''],
    ['div.button', JPEG, ''],
    ['data.xyz', BYTES, 'data.xyz'],
    ['data.csv', TEXT, 'data.csv'],
    ['Main.PY', TEXT, 'Main.PY'],
    ['server.log', TEXT, 'server.log'],
    ['settings.yml', TEXT, 'settings.yml'],
    ['report.pdf', TEXT, 'report.txt'],
    ['div.button', TEXT, ''],
    ['main.py', JPEG, ''],
    ['data.csv', JPEG, 'data.jpg'],
    ['../../etc/passwd.png', PDF, 'passwd.pdf'],
    ['CON.jpg', JPEG, 'CON_.jpg'],
  ])('%s, for %j: %s', (told, type, expected) => {
    expect(nameAs(told, type)).toEqual(expected);
  });

  it('is numbered where it is told of several', () => {
    expect([1, 2, 3].map((index) => numbered('a.b.jpg', index))).toEqual(['a.b.jpg', 'a.b-2.jpg', 'a.b-3.jpg']);
  });
});

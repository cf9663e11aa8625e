import { describe, expect, it } from '@jest/globals';
import { encodeFile } from '../../../../gateway/files/encode/index.js';
import type { JsonValue } from '../../../../gateway/ports/json.js';
import { F1, F4, fileOf, jsonOf } from './lab.js';

const SHA256_OF_F1 = 'c0535e4be2b79ffd93291305436bf889314e4a3faec05ecffcbb7df31ad9e51a';

const filled = async (template: JsonValue, bytes = F4, about = {}, parts = {}) =>
  JSON.parse(await jsonOf('object', fileOf(bytes, about), { template, ...parts }));

describe('9.3.3: the template of an object', () => {
  it('of the worked example', async () => {
    expect(
      await jsonOf('object', fileOf(F4), {
        template: { data: '$base64', mimeType: '$mime', name: '$name', size: '$size' },
      }),
    ).toBe('{"data":"AAEC/f7/","mimeType":"application/octet-stream","name":"x.bin","size":6}');
  });

  it.each([
    ['$base64', 'SGVsbG8gd29ybGQh'],
    ['$base64url', 'SGVsbG8gd29ybGQh'],
    ['$hex', '48656c6c6f20776f726c6421'],
    ['$dataUri', 'data:text/plain;base64,SGVsbG8gd29ybGQh'],
    ['$text', 'Hello world!'],
    ['$bytes', [...F1]],
    ['$mime', 'text/plain'],
    ['$name', 'a.txt'],
    ['$size', 12],
    ['$sha256', SHA256_OF_F1],
    ['$url', 'https://wharf.example/d/t'],
    ['$handle', 'mcp-file://wharf/f_1'],
  ])('%s', async (placeholder, expected) => {
    const parts = { url: 'https://wharf.example/d/t', handle: 'mcp-file://wharf/f_1' };
    expect(await filled(placeholder, F1, { name: 'a.txt', mimeType: 'text/plain' }, parts)).toEqual(expected);
  });

  it('may hold several placeholders, at any depth, the same one too', async () => {
    const template = [{ a: ['$base64', { b: '$hex' }] }, '$base64', '$size', [], {}];
    expect(await filled(template)).toEqual([{ a: ['AAEC/f7/', { b: '000102fdfeff' }] }, 'AAEC/f7/', 6, [], {}]);
  });

  it('keeps every other value and every key as it is', async () => {
    const template = {
      $base64: 'a key',
      text: 'costs $size',
      unknown: '$base',
      spaced: ' $base64',
      inherited: '$toString',
      plain: 'toString',
      number: 1.5,
      yes: true,
      nothing: null,
      'quo"te': 'quo"te\n',
    };
    expect(await filled(template)).toEqual(template);
  });

  it('loses one $ of two at the beginning of a string', async () => {
    expect(await filled(['$$base64', '$$', '$$$size', 'a$$b', '$'])).toEqual(['$base64', '$', '$$size', 'a$$b', '$']);
  });

  it('takes a digest that is known, and reads the file for one that is not', async () => {
    let reads = 0;
    const file = fileOf(F1);
    const counting = {
      ...file,
      read() {
        reads++;
        return file.read();
      },
    };
    expect(await jsonOf('object', counting, { template: '$sha256' })).toBe(`"${SHA256_OF_F1}"`);
    expect(reads).toBe(1);
    const digest = Buffer.from(SHA256_OF_F1, 'hex').toString('base64url');
    expect(await jsonOf('object', { ...counting, digest }, { template: '$sha256' })).toBe(`"${SHA256_OF_F1}"`);
    expect(reads).toBe(1);
  });

  it('refuses what is not text where text is wanted', async () => {
    await expect(
      encodeFile('object', fileOf(F4), { path: 'doc', template: { data: '$base64', text: '$text' } }),
    ).rejects.toMatchObject({ code: 'file_not_text', facts: { path: 'doc' } });
  });

  it('is needed, and so is what it asks for', async () => {
    await expect(jsonOf('object', fileOf(F4))).rejects.toThrow('no template');
    await expect(jsonOf('object', fileOf(F4), { template: '$url' })).rejects.toThrow('No address');
  });
});

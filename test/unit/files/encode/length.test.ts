import { describe, expect, it } from '@jest/globals';
import { encodeFile, largestFile, roomFor } from '../../../../gateway/files/encode/index.js';
import type { Encoding } from '../../../../gateway/ports/file-slot.js';
import { fileOf } from './lab.js';

const MIB = 1024 * 1024;
const TEMPLATE = { data: '$base64', again: ['$hex', '$text'], mime: '$mime', name: '$name', size: '$size' };

const SIZED: [Encoding, object][] = [
  ['base64', {}],
  ['base64url', {}],
  ['hex', {}],
  ['dataUri', {}],
  ['dataUriNamed', {}],
  ['text', {}],
  ['bytes', {}],
  ['object', { template: TEMPLATE }],
];

describe('the room that a file needs', () => {
  it.each([
    ['base64', 0, 2],
    ['base64', 7, 14],
    ['base64url', 7, 12],
    ['hex', 7, 16],
    ['text', 7, 9],
    ['bytes', 0, 2],
    ['bytes', 7, 29],
  ] as const)('%s of %i bytes is %i', (encoding, size, expected) => {
    expect(roomFor(encoding, size)).toBe(expected);
  });

  it('is reached by the worst file', async () => {
    const worst = {
      name: '文'.repeat(66).concat('.x'),
      mimeType: `${'a'.repeat(127)}/${'b'.repeat(127)}`,
    };
    const bytes = Buffer.alloc(100);
    const lengthOf = async (encoding: Encoding, content = bytes) =>
      (await encodeFile(encoding, fileOf(content, worst), { path: 'a' })).length;
    expect(await lengthOf('bytes', Buffer.alloc(100, 255))).toBe(roomFor('bytes', 100));
    expect(await lengthOf('dataUri')).toBe(roomFor('dataUri', 100));
    Object.assign(worst, { charset: 'utf-8' });
    expect(await lengthOf('dataUri')).toBe(roomFor('dataUri', 100));
    const named = await lengthOf('dataUriNamed');
    expect(named).toBeLessThanOrEqual(roomFor('dataUriNamed', 100));
    expect(named).toBeGreaterThan(roomFor('dataUriNamed', 100) - 10);
  });

  it('is that of plain text, which may turn out to need more', async () => {
    const lengthOf = async (content: Buffer) => (await encodeFile('text', fileOf(content), { path: 'a' })).length;
    expect(await lengthOf(Buffer.alloc(100, 'a'))).toBe(roomFor('text', 100));
    expect(await lengthOf(Buffer.alloc(100))).toBe(602);
  });

  it('is that of the string where it is known', () => {
    expect(roomFor('httpsUrl', 5, { value: 'https://a/"' })).toBe(14);
    expect(roomFor('localPath', 5)).toBe(roomFor('localPath', 5 * MIB));
  });
});

describe('the largest file for a room', () => {
  it.each(SIZED)('%s: fits, and one byte more need not', (encoding, parts) => {
    for (const room of [2, 3, 10, 1000, 5000, 4 * MIB, 4 * MIB + 1, 2 ** 40]) {
      const size = largestFile(encoding, room, parts);
      if (size === undefined) expect(roomFor(encoding, 0, parts)).toBeGreaterThan(room);
      else {
        expect(roomFor(encoding, size, parts)).toBeLessThanOrEqual(room);
        expect(roomFor(encoding, size + 1, parts)).toBeGreaterThan(room);
      }
    }
  });

  it.each(SIZED)('%s: is none where not even an empty file fits', (encoding, parts) => {
    expect(largestFile(encoding, roomFor(encoding, 0, parts) - 1, parts)).toBeUndefined();
    expect(largestFile(encoding, roomFor(encoding, 0, parts), parts)).toBe(0);
    expect(largestFile(encoding, -1, parts)).toBeUndefined();
  });

  it('does not depend on the size where only an address is sent', () => {
    expect(largestFile('localPath', 100, { value: '/tmp/x' })).toBe(Number.MAX_SAFE_INTEGER);
    expect(largestFile('localPath', 7, { value: '/tmp/x' })).toBeUndefined();
    expect(largestFile('object', 4 * MIB, { template: { url: '$url', size: '$size' } })).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('of 4 MiB is what servers with that limit take', () => {
    expect(largestFile('base64', 4 * MIB)).toBe(3 * MIB - 3);
    expect(largestFile('hex', 4 * MIB)).toBe(2 * MIB - 1);
    expect(largestFile('bytes', 4 * MIB)).toBe(MIB - 1);
    expect(largestFile('text', 4 * MIB)).toBe(4 * MIB - 2);
    expect(largestFile('object', 4 * MIB, { template: { a: '$text' } })).toBe(4 * MIB - 8);
  });
});

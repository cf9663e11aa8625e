import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../gateway/errors.js';
import { encodeFile, roomFor } from '../../gateway/files/encode/index.js';
import type { Encoding } from '../../gateway/ports/file-slot.js';
import { readDataUri } from '../../gateway/wire/data-uri.js';
import { anyText } from '../helpers/any-text.js';
import { cutAt } from '../helpers/chunked.js';
import { runs } from '../helpers/effort.js';
import { joined, sourceOf } from '../unit/files/encode/lab.js';

/** Per encoding, about two seconds in all. 20,000 each were run when this was written. */
const RUNS = 4000;

const contents = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  anyText({ maxLength: 100 }).map((text) => new TextEncoder().encode(text)),
  fc.string({ unit: 'grapheme', maxLength: 100 }).map((text) => new TextEncoder().encode(text)),
);

/** Bytes in any chunks, empty ones among them. */
const files = fc
  .tuple(contents, fc.array(fc.nat(300), { maxLength: 8 }), anyText(), fc.string())
  .map(([content, cuts, name, mimeType]) => {
    const bytes = Buffer.from(content);
    const positions = cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b);
    const chunks = [Buffer.alloc(0), ...cutAt(bytes, positions), Buffer.alloc(0)];
    return { bytes, file: sourceOf(chunks, { name, mimeType }) };
  });

const uriBytes = (value: unknown) => {
  const read = readDataUri(value as string);
  return typeof read === 'string' ? undefined : read.bytes;
};

/** How a server reads each encoding. */
const READERS: [Encoding, (value: unknown) => Buffer | undefined][] = [
  ['base64', (value) => Buffer.from(value as string, 'base64')],
  ['base64url', (value) => Buffer.from(value as string, 'base64url')],
  ['hex', (value) => Buffer.from(value as string, 'hex')],
  ['dataUri', uriBytes],
  ['dataUriNamed', uriBytes],
  ['text', (value) => Buffer.from(value as string)],
  ['bytes', (value) => Buffer.from(value as number[])],
  ['object', (value) => Buffer.from((value as { data: string }).data, 'base64')],
];

/** What a strict reader says of bytes that shall be text. */
function isText(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

describe('whatever a file holds and however it is read', () => {
  it.each(READERS)('its %s has the promised length and gives its bytes again', async (encoding, read) => {
    const template = { name: '$name', data: '$base64', mime: '$mime', hex: ['$hex'], size: '$size' };
    await fc.assert(
      fc.asyncProperty(files, async ({ bytes, file }) => {
        let value: Awaited<ReturnType<typeof encodeFile>>;
        try {
          value = await encodeFile(encoding, file, { path: 'a', template });
        } catch (error) {
          return encoding === 'text' && error instanceof GatewayError && !isText(bytes);
        }
        const json = await joined(value);
        return (
          (encoding !== 'text' || isText(bytes)) &&
          json.length === value.length &&
          (encoding === 'text' || json.length <= roomFor(encoding, bytes.length, { template })) &&
          read(JSON.parse(json.toString()))?.equals(bytes) === true
        );
      }),
      { numRuns: runs(RUNS) },
    );
  });
});

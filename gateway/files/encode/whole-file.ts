import { GatewayError } from '../../errors.js';
import type { FileSource } from './encoder.js';

/** Most bytes handled in one go, so that the pieces of JSON do not grow with the store's chunks. */
export const MAX_CHUNK = 288 * 1024;

/**
 * Every byte of a file, in chunks that are not empty.
 * @throws GatewayError `file_gone` when their number differs from the record's; before it yields one byte too many,
 * because a length has been promised
 */
export async function* wholeFile(file: FileSource): AsyncGenerator<Buffer, void, undefined> {
  let size = 0;
  for await (const chunk of file.read()) {
    size += chunk.length;
    if (size > file.size) throw sizeDiffers(file.size, size);
    for (let at = 0; at < chunk.length; at += MAX_CHUNK) yield chunk.subarray(at, at + MAX_CHUNK);
  }
  if (size < file.size) throw sizeDiffers(file.size, size);
}

function sizeDiffers(recorded: number, actual: number): GatewayError {
  return new GatewayError('file_gone', {}, new Error(`The file has ${recorded} bytes, ${actual} were read.`));
}

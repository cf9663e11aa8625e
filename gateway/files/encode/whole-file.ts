import { GatewayError } from '../../errors.js';
import type { FileSource } from './encoder.js';

/** Most bytes handled in one go, so that no piece of JSON grows with what a store hands over at once. */
const MAX_CHUNK = 288 * 1024;

/**
 * Every byte of a file, in chunks that are not empty.
 * @throws GatewayError `file_gone` when they are not as many as its record says, before one too many is given: a length
 * has been promised
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

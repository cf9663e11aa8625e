import { asGatewayError } from '../../errors.js';
import type { ResumableUploads } from '../../files/uploads/resumable/resumable-uploads.js';
import type { Begun } from '../browser/page-data.js';
import { readMetadata } from './request.js';

/** How much of a file its page has already sent for a ticket, and how the page recognises that file. */
export async function begunOn(resumable: Pick<ResumableUploads, 'find'>, ticket: string): Promise<Begun | undefined> {
  try {
    const found = await resumable.find(ticket);
    if ('record' in found) return undefined;
    const { id: upload, offset, length: size, metadata, name } = found.noted.progress;
    if (name === undefined || metadata === undefined) return undefined;
    const lastModified = Number(Buffer.from(readMetadata(metadata).get('lastmodified') ?? '', 'base64').toString());
    return { upload, offset, size, name, lastModified };
  } catch (error) {
    // usually no upload has begun, and the page for a file matters more than news of an earlier attempt
    if (asGatewayError(error).httpStatus < 500) return undefined;
    throw error;
  }
}

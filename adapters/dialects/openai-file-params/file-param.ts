import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject } from '../../../gateway/ports/dialect.js';

export const NAME = 'openai-file-params';

/** Key of a tool's `_meta`: names of the top-level arguments that are files. */
export const META_KEY = 'openai/fileParams';

/** The object of an argument, or of each item of an array: the host's validation accepts only these members. */
export const FILE_PARAM = {
  type: 'object',
  properties: {
    download_url: { type: 'string' },
    file_id: { type: 'string' },
    mime_type: { type: 'string' },
    file_name: { type: 'string' },
  },
  required: ['download_url', 'file_id'],
} as const satisfies JsonObject;

/** Clients cannot declare it: the operator configures which clients speak it. */
export function isSpokenBy(client: ClientFacts): boolean {
  return client.dialects?.includes(NAME) ?? false;
}

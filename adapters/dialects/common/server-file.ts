import { textIn } from '../../../gateway/json/value.js';
import type { JsonObject } from '../../../gateway/ports/dialect.js';
import type { ServerFile } from '../../../gateway/ports/file-question.js';

/** What a server says of a file in the field for it. */
export function wordsIn(field: JsonObject): Pick<ServerFile, 'title' | 'description'> {
  const title = textIn(field, 'title')?.trim();
  const description = textIn(field, 'description')?.trim();
  return { ...(title && { title }), ...(description && { description }) };
}

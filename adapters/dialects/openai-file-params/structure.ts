import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, OutgoingFile } from '../../../gateway/ports/dialect.js';
import { isSpokenBy } from './file-param.js';

/** What hosts fetch files from: a single file is the structuredContent itself, several are a list in it. */
export function structure(files: readonly OutgoingFile[], client: ClientFacts): JsonObject | undefined {
  if (!isSpokenBy(client)) return undefined;
  const objects = files.map(fileObject);
  return objects.length === 1 ? objects[0] : { files: objects };
}

function fileObject({ ref }: OutgoingFile): JsonObject {
  return { download_url: ref.url, file_id: ref.uri, mime_type: ref.mimeType, file_name: ref.name };
}

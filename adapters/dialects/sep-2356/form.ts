import { isObject } from '../../../gateway/json/value.js';
import { eraOf } from '../../../gateway/mcp/era.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileAsking, FileQuestion } from '../../../gateway/ports/file-question.js';
import { takesInline } from '../common/transfer-modes.js';
import { fromServer } from './from-server.js';
import { descriptorOf, FORM_SIDECAR, KEYWORD } from './keyword.js';

/** Forms with a field for a file, which comes back as a data: URI. */
export const asks: FileAsking = {
  means: 'form',
  isCallersUpload: false,
  mayNameUploads: uploads,
  question: (asked, client) => {
    const { name, title, description, message, several, isServers } = asked;
    if (!hasFileFields(client, isServers)) return undefined;
    const keyword = keywordFor(asked, client);
    if (!keyword) return undefined;
    const one = { type: 'string', format: 'uri', [KEYWORD]: keyword };
    const words = { title: title ?? name, ...(description !== undefined && { description }) };
    const field = several
      ? { type: 'array', ...words, items: one, minItems: several.least, maxItems: several.most }
      : { ...one, ...words };
    // the first revision with forms knows no other mode
    const mode = eraOf(client.protocolVersion).hasUrlElicitation ? { mode: 'form' } : {};
    const requestedSchema = { type: 'object', properties: { [name]: field }, required: [name] };
    const sidecar = declaresFileFields(client) ? { [FORM_SIDECAR]: { [name]: keyword } } : {};
    return { ...mode, message, requestedSchema, ...sidecar };
  },
  answer: (content, name) => {
    const value = isObject(content) && Object.hasOwn(content, name) ? content[name] : undefined;
    const uris = (Array.isArray(value) ? value : [value]).filter((uri) => typeof uri === 'string');
    const isWhole = uris.length > 0 && uris.length === (Array.isArray(value) ? value.length : 1);
    return isWhole ? { kind: 'inline', uris } : { kind: 'invalid' };
  },
  fromServer,
  toServer: (given, { isList, takesName }) => {
    const uris = given.map(({ name, mimeType, uri, base64 = '' }) => {
      if (uri !== undefined) return uri;
      const parameter = takesName ? `;name=${percentEncoded(name)}` : '';
      return `data:${mimeType}${parameter};base64,${base64}`;
    });
    return isList ? uris : (uris[0] ?? null);
  },
};

/**
 * What the field says of the file. A client that uploads may give its handle, however large the file is; any other fills the
 * field with the bytes, and must not where the server wants an upload.
 */
function keywordFor(
  { accept, maxSize, maxInline, transferModes }: FileQuestion,
  client: ClientFacts,
): JsonObject | undefined {
  // an uploaded file can be put into an answer, but what is wanted uploaded must not come in one
  const isInline = takesInline({ transferModes });
  if (uploads(client)) {
    return { ...descriptorOf(accept, maxSize), transferModes: isInline ? ['inline', 'upload'] : ['upload'] };
  }
  return isInline ? descriptorOf(accept, Math.min(maxSize, maxInline)) : undefined;
}

/** `encodeURIComponent` leaves `!'()*`, which RFC 3986 reserves. */
function percentEncoded(name: string): string {
  const byte = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(name).replace(/[!'()*]/g, byte);
}

/** Other clients strip the keyword, and show a box for text. @param isServers as of `FileQuestion` */
function hasFileFields(client: ClientFacts, isServers = false): boolean {
  const { capabilities, elicitation: configured } = client;
  if (configured?.includes('form')) return true;
  const { elicitation } = capabilities;
  if (!isObject(elicitation)) return false;
  const { form } = elicitation;
  const declared = Object.keys(elicitation);
  const hasForms = form !== undefined || !declared.some((mode) => mode === 'url' || mode === 'binary');
  return hasForms && (declaresFileFields(client) || (isServers && uploads(client)));
}

/** The early revisions have a capability for it, and know the fields by the sidecar alone. */
function declaresFileFields({ capabilities: { elicitation, fileInputs } }: ClientFacts): boolean {
  const form = isObject(elicitation) ? elicitation.form : undefined;
  return isDeclared(fileInputs) || (isObject(form) && isDeclared(form.fileInputs));
}

/** SEP-2631 fills the fields of a server's form with the handle of a file that was uploaded before. */
function uploads({ capabilities }: ClientFacts): boolean {
  const { files } = capabilities;
  return isObject(files) && files.upload === true && hasTransport(files);
}

/** A client that names only transports of the future cannot reach an address of Wharf's. */
function hasTransport({ transports }: JsonObject): boolean {
  return !Array.isArray(transports) || transports.includes('https') || transports.includes('http');
}

function isDeclared(capability: JsonValue | undefined): boolean {
  return isObject(capability) || capability === true;
}

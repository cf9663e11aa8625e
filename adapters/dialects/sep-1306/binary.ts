import { isObject, textIn } from '../../../gateway/json/value.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileAsking, FileBounds, UploadedFile } from '../../../gateway/ports/file-question.js';
import { fromServer } from './from-server.js';

const ANY = '*/*';

/**
 * Each is compared with every type that a tool takes, and the upload keeps what both name: a client that names more has the
 * others left out.
 */
const MOST_TYPES = 100;

/** Elicitation in `binary` mode: the client uploads the file, and answers then. */
export const asks: FileAsking = {
  means: 'binary',
  isCallersUpload: true,
  narrow: (wanted, client) => narrowed(wanted, client) ?? wanted,
  question: ({ name, title, description, message, several, upload, ...wanted }, client) => {
    const takes = narrowed(wanted, client);
    if (!takes) return undefined;
    const { maxSize, accept } = takes;
    const field: JsonObject = {
      type: 'file',
      title: title ?? name,
      description: description ?? message,
      maxSize,
      ...(several && { multiple: true }),
      ...(accept && { accept: [...accept] }),
    };
    return {
      mode: 'binary',
      message,
      requestedSchema: { type: 'object', properties: { [name]: field }, required: [name] },
      uploadEndpoints: { [name]: { url: upload.url, method: 'POST', uploadId: upload.id } },
    };
  },
  answer: (content, name, id) => {
    const value = isObject(content) && Object.hasOwn(content, name) ? content[name] : undefined;
    const files: UploadedFile[] = [];
    // "the file field contains an array of file objects", all with the id of their upload
    for (const file of Array.isArray(value) ? value : [value]) {
      if (!isObject(file) || file.uploadId !== id) return { kind: 'invalid' };
      const { size } = file;
      const own = textIn(file, 'name');
      files.push({ ...(own !== undefined && { name: own }), ...(typeof size === 'number' && { size }) });
    }
    return files.length > 0 ? { kind: 'uploaded', files } : { kind: 'invalid' };
  },
  declares: ({ binary }, maxSize) => {
    const own = isObject(binary) ? binary : {};
    return { binary: { ...own, maxFileSize: mostOf(own, maxSize) } };
  },
  fromServer,
  toServer: (given, { endpoint, isList }) => {
    const files = given.map(({ name, size, mimeType }) => ({ name, size, mimeType, uploadId: endpoint?.id ?? '' }));
    return isList ? files : (files[0] ?? null);
  },
};

function binaryOf({ capabilities, elicitation: configured }: ClientFacts): JsonObject | undefined {
  const { elicitation } = capabilities;
  const binary = isObject(elicitation) ? elicitation.binary : undefined;
  if (isObject(binary)) return binary;
  return configured?.includes('binary') ? {} : undefined;
}

/** Of the files that are wanted, those that the client says it can give; undefined where there are none. */
function narrowed({ maxSize, accept }: FileBounds, client: ClientFacts): FileBounds | undefined {
  const binary = binaryOf(client);
  const types = binary && common(accept ?? [ANY], supportedBy(binary));
  if (!binary || !types) return undefined;
  return { maxSize: mostOf(binary, maxSize), ...(!types.includes(ANY) && { accept: types }) };
}

function mostOf({ maxFileSize }: JsonObject, maxSize: number): number {
  return typeof maxFileSize === 'number' && maxFileSize > 0 ? Math.min(maxSize, maxFileSize) : maxSize;
}

function supportedBy({ supportedMimeTypes: types }: JsonObject): string[] {
  const named = Array.isArray(types) ? types.filter((type: JsonValue) => typeof type === 'string') : [];
  return named.length > 0 ? named.slice(0, MOST_TYPES) : [ANY];
}

/** What both name, each time in the narrower one's words; undefined where they name nothing in common. */
function common(accept: readonly string[], supported: readonly string[]): string[] | undefined {
  const both = accept.flatMap((wanted) =>
    supported.flatMap((known) => (includes(known, wanted) ? [wanted] : includes(wanted, known) ? [known] : [])),
  );
  return both.length === 0 ? undefined : [...new Set(both)].slice(0, MOST_TYPES);
}

/** Whether every file of type `inner` is one of type `outer`. */
function includes(outer: string, inner: string): boolean {
  const [wide, narrow] = [outer.toLowerCase(), inner.toLowerCase()];
  return wide === ANY || wide === narrow || (wide.endsWith('/*') && narrow.startsWith(wide.slice(0, -1)));
}

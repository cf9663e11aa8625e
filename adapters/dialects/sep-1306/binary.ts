import { isObject, textIn } from '../../../gateway/json/value.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileAsking, UploadedFile } from '../../../gateway/ports/file-question.js';
import { fromServer } from './from-server.js';

const ANY = '*/*';

/** Each is compared with every type that a tool takes: a client that names more has the others left out. */
const MOST_TYPES = 100;

/** Elicitation in `binary` mode: the client uploads the file, and answers then. */
export const asks: FileAsking = {
  means: 'binary',
  isCallersUpload: true,
  question: ({ name, title, description, message, accept, maxSize, several, upload }, client) => {
    const binary = binaryOf(client);
    const types = binary && common(accept ?? [ANY], supportedBy(binary));
    if (!binary || !types) return undefined;
    const most = mostOf(binary, maxSize);
    const field: JsonObject = {
      type: 'file',
      title: title ?? name,
      description: description ?? message,
      maxSize: most,
      ...(several && { multiple: true }),
      ...(!types.includes(ANY) && { accept: types }),
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
  return both.length === 0 ? undefined : [...new Set(both)];
}

/** Whether every file of type `inner` is one of type `outer`. */
function includes(outer: string, inner: string): boolean {
  const [wide, narrow] = [outer.toLowerCase(), inner.toLowerCase()];
  return wide === ANY || wide === narrow || (wide.endsWith('/*') && narrow.startsWith(wide.slice(0, -1)));
}

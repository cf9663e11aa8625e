import { isObject, textIn } from '../../../gateway/json/value.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { BadQuestion, ServerFile, ServerQuestion } from '../../../gateway/ports/file-question.js';
import { wordsIn } from '../common/server-file.js';

const NO_ENDPOINT: BadQuestion = { problem: 'each field of type "file" needs an entry in uploadEndpoints' };

/** Reads a server's request in `binary` mode. */
export function fromServer(params: JsonObject): ServerQuestion | BadQuestion | undefined {
  if (params.mode !== 'binary') return undefined;
  const { requestedSchema, uploadEndpoints } = params;
  const properties = isObject(requestedSchema) ? requestedSchema.properties : undefined;
  if (!isObject(requestedSchema) || !isObject(properties) || !isObject(uploadEndpoints)) return NO_ENDPOINT;
  const required = texts(requestedSchema.required);
  const files: ServerFile[] = [];
  const unread: [string, JsonValue][] = [];
  for (const [name, field] of Object.entries(properties)) {
    if (!isObject(field) || field.type !== 'file') {
      unread.push([name, field]);
      continue;
    }
    const endpoint = endpointIn(Object.hasOwn(uploadEndpoints, name) ? uploadEndpoints[name] : undefined);
    if (!endpoint) return NO_ENDPOINT;
    const { maxSize } = field;
    const accept = texts(field.accept);
    files.push({
      name,
      ...wordsIn(field),
      ...(accept.length > 0 && { accept }),
      ...(typeof maxSize === 'number' && maxSize > 0 && { maxSize: Math.floor(maxSize) }),
      isRequired: required.includes(name),
      isList: field.multiple === true,
      endpoint,
    });
  }
  if (files.length === 0) return NO_ENDPOINT;
  const others: JsonObject = Object.fromEntries(unread);
  const besides = { properties: others, required: required.filter((name) => Object.hasOwn(others, name)) };
  return { message: textIn(params, 'message') ?? '', files, besides };
}

function endpointIn(value: JsonValue | undefined): ServerFile['endpoint'] {
  if (!isObject(value)) return undefined;
  const { url, method = 'POST', uploadId } = value;
  if (typeof url !== 'string' || typeof uploadId !== 'string') return undefined;
  return method === 'POST' || method === 'PUT' ? { url, method, id: uploadId } : undefined;
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

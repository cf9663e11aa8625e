import { isObject, own, textIn } from '../../../gateway/json/value.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { ServerFile, ServerQuestion } from '../../../gateway/ports/file-question.js';
import { wordsIn } from '../common/server-file.js';
import { modesIn } from '../common/transfer-modes.js';
import { FORM_SIDECAR, KEYWORDS, readDescriptor } from './keyword.js';

/** Reads a server's form; undefined for one without a field for a file. */
export function fromServer(params: JsonObject): ServerQuestion | undefined {
  const { mode, requestedSchema } = params;
  const properties = isObject(requestedSchema) ? requestedSchema.properties : undefined;
  if ((mode !== undefined && mode !== 'form') || !isObject(requestedSchema) || !isObject(properties)) return undefined;
  const { required } = requestedSchema;
  const due = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const files: ServerFile[] = [];
  const unread: [string, JsonValue][] = [];
  for (const [name, field] of Object.entries(properties)) {
    const file = fileIn(name, field, { isRequired: due.includes(name), sidecar: params[FORM_SIDECAR] });
    if (file) files.push(file);
    else unread.push([name, field]);
  }
  if (files.length === 0) return undefined;
  const others: JsonObject = Object.fromEntries(unread);
  const besides = { properties: others, required: due.filter((name) => Object.hasOwn(others, name)) };
  return { message: textIn(params, 'message') ?? '', files, besides };
}

function fileIn(
  name: string,
  field: JsonValue,
  { isRequired, sidecar }: { isRequired: boolean; sidecar: JsonValue | undefined },
): ServerFile | undefined {
  if (!isObject(field)) return undefined;
  const { items } = field;
  const isList = field.type === 'array';
  const holders = [field, ...(isObject(items) ? [items] : [])];
  const [keyword] = holders.flatMap((holder) => KEYWORDS.flatMap((key) => readDescriptor(holder[key]) ?? []));
  const holder = isList ? items : field;
  // on anything else the keyword means nothing; real servers leave the format out
  if (!isObject(holder) || holder.type !== 'string') return undefined;
  // "that property's schema MUST be" one for a URI: another entry of the sidecar means nothing
  const isUri = holder.format === 'uri';
  const descriptor = keyword ?? (isUri && isObject(sidecar) ? readDescriptor(own(sidecar, name)) : undefined);
  if (!descriptor) return undefined;
  const { accept, maxSize } = descriptor;
  const { minItems, maxItems } = isList ? field : {};
  const transferModes = modesIn(descriptor.transferModes);
  // Wharf knows no way to give it a file
  if (transferModes?.length === 0) return undefined;
  return {
    name,
    ...wordsIn(field),
    ...(accept && { accept }),
    ...(maxSize !== undefined && { maxSize }),
    ...(transferModes && { transferModes }),
    isRequired,
    isList,
    ...(isCount(minItems) && { minItems }),
    ...(isCount(maxItems) && { maxItems }),
    // "name=" belongs to the revisions with this member, and to no later one
    ...(!keyword && { takesName: true as const }),
  };
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

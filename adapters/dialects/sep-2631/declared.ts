import { isObject, textIn } from '../../../gateway/json/value.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { Delivery, FileSlot, TransferMode } from '../../../gateway/ports/file-slot.js';
import { EACH } from '../../../gateway/schema/argument-path.js';
import { budgetOfTool } from '../../../gateway/schema/budget.js';
import { eachArgument } from '../../../gateway/schema/walk.js';
import { shapeOf } from '../common/text-shape.js';
import { modesIn } from '../common/transfer-modes.js';
import { NAME } from './capability.js';

/** Where the first revision declared its file arguments. */
export const SIDECAR_META = 'modelcontextprotocol.io/fileInputs';

/** The revisions differ in the value of an argument whose file was uploaded. */
type Revision = 'uri' | 'object-with-uri' | 'object-with-file';

/** What a declaration that names no mode leaves to the client. */
export const EVERY_MODE: readonly TransferMode[] = ['inline', 'upload'];

/** Fields of forms take what arguments take today. */
export const OF_FORMS: Revision = 'uri';

const UPLOADED = (revision: Revision): Delivery => ({ kind: 'uploaded', dialect: NAME, revision });
const DATA_URI: Delivery = { kind: 'encoded', encoding: 'dataUri' };
const NAMED_DATA_URI: Delivery = { kind: 'encoded', encoding: 'dataUriNamed' };
const INLINE_OBJECT: Delivery = {
  kind: 'encoded',
  encoding: 'object',
  template: { type: 'file', name: '$name', mimeType: '$mime', size: '$size', content: { blob: '$base64' } },
};

/**
 * The file arguments of a tool that declares their transfer. The keyword alone, without `transferModes`, belongs to
 * SEP-2356.
 */
export function slotsOf(tool: JsonObject): FileSlot[] {
  return [...byKeyword(tool.inputSchema), ...bySidecar(tool)];
}

function byKeyword(inputSchema: JsonValue | undefined): FileSlot[] {
  const slots: FileSlot[] = [];
  const budget = budgetOfTool();
  eachArgument(
    inputSchema,
    ({ schema, path }) => {
      const keyword = schema['x-mcp-file'];
      if (!isObject(keyword) || !Array.isArray(keyword.transferModes)) return false;
      // on anything else it means nothing, and the server takes no URI there
      const shape = shapeOf(schema, inputSchema, budget);
      if (!shape) return false;
      const modes = modesIn(keyword.transferModes) ?? EVERY_MODE;
      // two drafts put the keyword on the array itself; Wharf brings no file there if it knows none of the modes
      if (modes.length > 0) slots.push(keywordSlot(shape === 'strings' ? [...path, EACH] : path, keyword, modes));
      return true;
    },
    { budget },
  );
  return slots;
}

function keywordSlot(path: readonly string[], keyword: JsonObject, modes: readonly TransferMode[]): FileSlot {
  const takesInline = modes.includes('inline');
  const deliveries = [...(takesInline ? [DATA_URI] : []), ...(modes.includes('upload') ? [UPLOADED('uri')] : [])];
  const filename = textIn(keyword, 'filenameProperty');
  return {
    path,
    declaredBy: NAME,
    ...constraints(keyword, 'maxSize'),
    // a file for inside the call may also be uploaded to Wharf, which then puts it there
    ...(!takesInline && { transferModes: ['upload'] as const }),
    companions: filename === undefined ? {} : { name: filename },
    deliveries,
  };
}

/** Drafts a, b and c: a list of arguments beside the schema; their values were objects in the first two. */
function bySidecar({ inputSchema, inputFiles, _meta }: JsonObject): FileSlot[] {
  const properties = isObject(inputSchema) && isObject(inputSchema.properties) ? inputSchema.properties : {};
  const meta = isObject(_meta) ? _meta[SIDECAR_META] : undefined;
  const declared = isObject(meta) ? meta : isObject(inputFiles) ? inputFiles : {};
  return Object.entries(declared).flatMap(([name, entry]): FileSlot[] => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isObject(entry) || !isObject(schema)) return [];
    const value = schema.type === 'array' && isObject(schema.items) ? schema.items : schema;
    const isSized = entry.maxFileSize !== undefined;
    let deliveries: Delivery[];
    if (isObject(meta)) deliveries = [UPLOADED('object-with-file'), INLINE_OBJECT];
    else if (value.type === 'object') deliveries = [UPLOADED('object-with-uri'), INLINE_OBJECT];
    // without the member that only this SEP had, a string in `inputFiles` belongs to SEP-2356
    else if (value.type === 'string' && isSized) deliveries = [NAMED_DATA_URI, UPLOADED('uri')];
    else return [];
    const purpose = textIn(entry, 'purpose');
    return [
      {
        path: value === schema ? [name] : [name, '[]'],
        declaredBy: NAME,
        ...constraints(entry, isSized ? 'maxFileSize' : 'maxSize'),
        companions: {},
        deliveries,
        ...(purpose !== undefined && { purpose }),
      },
    ];
  });
}

function constraints(descriptor: JsonObject, sizeKey: string): Pick<FileSlot, 'accept' | 'maxSize'> {
  const accept = Array.isArray(descriptor.accept)
    ? descriptor.accept.filter((type): type is string => typeof type === 'string')
    : [];
  const maxSize = descriptor[sizeKey];
  return {
    ...(accept.length > 0 && { accept }),
    ...(typeof maxSize === 'number' && Number.isSafeInteger(maxSize) && maxSize >= 0 && { maxSize }),
  };
}

import type { JsonObject, JsonPatch, ShownSlot } from '../../../gateway/ports/dialect.js';

/** What said something of the base64 and would refuse a handle. `x-mcp-header` would put megabytes into a header. */
const OF_THE_ENCODING = [
  'contentEncoding',
  'contentMediaType',
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'additionalProperties',
  'x-mcp-header',
];

/** Every file argument is a string, and its description says what to put there: the one thing all clients show. */
export function showTool(_tool: JsonObject, slots: readonly ShownSlot[]): JsonPatch[] {
  return slots.flatMap(({ slot, at, schema, maxSize, uploadTool }) => {
    const patches: JsonPatch[] = [];
    const { type } = schema;
    const isString = type === 'string' || (Array.isArray(type) && type.includes('string'));
    if (!isString) patches.push({ path: [...at, 'type'], value: 'string' });
    for (const key of OF_THE_ENCODING) {
      // without an encoding it speaks of the file itself
      if (key === 'contentMediaType' && schema.contentEncoding === undefined) continue;
      if (schema[key] !== undefined) patches.push({ path: [...at, key], value: undefined });
    }
    const said = typeof schema.description === 'string' ? [sentence(schema.description)] : [];
    const text = [...said, ...(slot.purpose ? [sentence(slot.purpose)] : []), howTo(slot.accept, maxSize, uploadTool)];
    patches.push({ path: [...at, 'description'], value: text.join(' ') });
    return patches;
  });
}

function howTo(accept: readonly string[] | undefined, maxSize: number, uploadTool: string | undefined): string {
  const from = uploadTool === undefined ? "another tool's result" : `${uploadTool} or from another tool's result`;
  const kinds = accept === undefined ? '' : ` of type ${accept.join(', ')}`;
  return (
    `A file${kinds}, at most ${maxSize} bytes. Pass a file handle (mcp-file://…) from ${from}. ` +
    'A short data: URI also works. Do not type base64 yourself.'
  );
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…]$/.test(trimmed) || trimmed === '' ? trimmed : `${trimmed}.`;
}

import { isObject } from '../../../gateway/json/value.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonPatch, ShownSlot } from '../../../gateway/ports/dialect.js';
import { NAME, uploads } from './capability.js';
import { EVERY_MODE, SIDECAR_META } from './declared.js';

/**
 * Shows every file argument as a URI string with the keyword and its transfer modes. Wharf can turn an upload into
 * anything that the server takes, but does not inline what a server wants uploaded. A client that does not upload sees
 * the modes for inside a call: it reads the keyword as SEP-2356 defines it.
 */
export function showTool(tool: JsonObject, slots: readonly ShownSlot[], client: ClientFacts): JsonPatch[] {
  const isPlain = client.host?.fileArguments === 'plain';
  const patches = slots.flatMap(({ slot, at, schema, maxSize, maxInline }): JsonPatch[] => {
    if (isPlain) return [];
    const there = isObject(schema['x-mcp-file']) ? schema['x-mcp-file'] : {};
    const { filenameProperty: _, ...kept } = there;
    const modes = slot.transferModes ?? EVERY_MODE;
    const keyword = {
      ...kept,
      ...(slot.accept && { accept: [...slot.accept] }),
      maxSize: modes.includes('inline') && !uploads(client) ? maxInline : maxSize,
      transferModes: [...modes],
    };
    const format: JsonPatch[] = schema.format === 'uri' ? [] : [{ path: [...at, 'format'], value: 'uri' }];
    return [...format, { path: [...at, 'x-mcp-file'], value: keyword }];
  });
  if (!slots.some(({ slot }) => slot.declaredBy === NAME)) return patches;
  // the old declaration was for objects, which the client must not send
  const meta = isObject(tool._meta) ? tool._meta : {};
  if (meta[SIDECAR_META] !== undefined) patches.push({ path: ['_meta', SIDECAR_META], value: undefined });
  if (tool.inputFiles !== undefined && client.capabilities.fileInputs === undefined) {
    patches.push({ path: ['inputFiles'], value: undefined });
  }
  return patches;
}

import { valueAt } from '../../json/value.js';
import { encodeHeaderValue } from '../../mcp/headers.js';
import type { ParamHeader } from '../../mcp/param-headers.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { EACH } from '../../schema/argument-path.js';
import type { SlotUse } from '../tools/file-slots.js';
import type { IncomingFile } from './incoming-files.js';

/** A companion called `names[]` is an array beside the array of files. */
export function companionPath(companion: string, path: JsonPath): JsonPath {
  const key = companion.endsWith(EACH) ? companion.slice(0, -EACH.length) : companion;
  return [...path.slice(0, typeof path.at(-1) === 'number' ? -2 : -1), key];
}

interface Companion {
  /** Below the arguments. */
  path: JsonPath;
  value: JsonValue;
}

/** Sibling arguments that take a file's name, type and size, unless the caller set them. */
export class Companions {
  readonly #args: JsonObject;
  readonly #values = new Map<string, Companion>();

  constructor(args: JsonObject) {
    this.#args = args;
  }

  add({ slot, path }: SlotUse, file: IncomingFile): void {
    const { name, mimeType, size } = slot.companions;
    if (name !== undefined && file.hasName) this.#set(name, path, file.name);
    if (mimeType !== undefined) this.#set(mimeType, path, file.mimeType);
    if (size !== undefined) this.#set(size, path, slot.sizeIsText ? String(file.size) : file.size);
  }

  values(): Iterable<Companion> {
    return this.#values.values();
  }

  /** Headers that must repeat arguments which have been filled in (SEP-2243). */
  headers(declared: readonly ParamHeader[]): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const { path, value } of this.#values.values()) {
      const own = declared.find((one) => one.path.join('.') === path.join('.'));
      if (own && !Array.isArray(value)) headers[own.header] = encodeHeaderValue(String(value));
    }
    return headers;
  }

  #set(companion: string, slotPath: JsonPath, value: JsonValue): void {
    const path = companionPath(companion, slotPath);
    const given = valueAt(this.#args, path);
    if (given !== undefined && given !== null && given !== '') return;
    const id = JSON.stringify(path);
    const list = this.#values.get(id)?.value;
    if (!companion.endsWith(EACH)) this.#values.set(id, { path, value });
    else if (Array.isArray(list)) list.push(value);
    else this.#values.set(id, { path, value: [value] });
  }
}

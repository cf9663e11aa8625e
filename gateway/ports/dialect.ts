import type { FileClaims, FileRef } from '../files/file.js';

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

/**
 * What kind of object a file stands in, which decides its limits and what may replace it:
 * - `content`: one block of a tool result's `content[]`; any number of blocks may take its place;
 * - `prompt`: the one content block of a prompt message; exactly one block takes its place;
 * - `resource`: one item of `resources/read`'s `contents[]`; exactly one item takes its place.
 */
export type HolderKind = 'content' | 'prompt' | 'resource';

/** A place in an upstream's message where a file may stand. */
export interface SlotPlace {
  /** Name of the place, unique among all dialects: `<dialect>/<place>`. */
  readonly name: string;
  /**
   * Where the string stands, below the `result` of an answer: `content[].data`. Dots nest, `[]` is every item.
   */
  readonly path: string;
  /** Where the object that is replaced stands, a beginning of `path`: `content[]`. */
  readonly holder: string;
  readonly kind: HolderKind;
  /** `base64`: the whole string. `dataUri`: the string is a file only if it is wholly a base64 `data:` URI. */
  readonly encoding: 'base64' | 'dataUri';
}

/** What a client has said of itself. */
export interface ClientFacts {
  /** The negotiated MCP version, such as `2025-06-18`. */
  protocolVersion: string;
  capabilities: JsonObject;
}

export interface Preview {
  mimeType: string;
  base64: string;
}

/** A stored file about to be written into a message. */
export interface OutgoingFile {
  ref: FileRef;
  preview?: Preview;
}

/** Mine, with what the holder says of the file, or not a file at all. */
export type SlotReading = { kind: 'mine'; claims: FileClaims; inlineLimit: 'image' | 'other' } | { kind: 'not-mine' };

/**
 * One way in which peers write files on the wire: pure functions around one neutral file model. No I/O, no clock.
 */
export interface Dialect {
  readonly name: string;
  /** Which text of the specification it follows. */
  readonly revision: string;
  /** Where upstreams that speak it put files. */
  readonly places: readonly SlotPlace[];
  /** True when a client with these facts understands what `write` makes. */
  spokenBy(client: ClientFacts): boolean;
  /** Reads the holder of a file; the file's own string is empty in it. `mimeType` is a data URI's own, if it was one. */
  read(place: SlotPlace, holder: JsonObject): SlotReading;
  /** What takes the holder's place in a message to this client. */
  write(place: SlotPlace, file: OutgoingFile, holder: JsonObject, client: ClientFacts): JsonObject[];
}

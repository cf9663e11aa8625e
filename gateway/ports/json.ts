export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };
/** Where a value stands: keys, and indexes of arrays. */
export type JsonPath = readonly (string | number)[];

/** A member of a JSON document that is set, or removed where the value is undefined. Its parents are made. */
export interface JsonPatch {
  path: JsonPath;
  value: JsonValue | undefined;
}

/** Any JSON value (RFC 8259). */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
/** A JSON object; of equal keys the last has counted. */
export type JsonObject = { [key: string]: JsonValue };
/** Path of a value: keys, and indexes of arrays. */
export type JsonPath = readonly (string | number)[];

/** Sets a member of a JSON document, or removes it when the value is undefined. Creates missing parents. */
export interface JsonPatch {
  path: JsonPath;
  value: JsonValue | undefined;
}

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };
/** Where a value stands: keys, and indexes of arrays. */
export type JsonPath = readonly (string | number)[];

const QUOTE = 0x22;

/**
 * The JSON text of a scalar as `JSON.stringify` spells it, so that texts can be compared: PHP writes the slashes of
 * `"notifications/progress"` as `\/`, Python an `é` as `\u00e9`, Lua a 1 as 1.0. A number that a double cannot hold
 * keeps its text.
 */
export function plainText(json: string): string {
  if (json.charCodeAt(0) === QUOTE) return json.includes('\\') ? JSON.stringify(JSON.parse(json)) : json;
  const value = Number(json);
  return Number.isSafeInteger(value) ? String(value) : json;
}

const QUOTE = 0x22;

const EXPONENT_OR_FRACTION = /[.eE]/;

/**
 * The JSON text of a scalar as `JSON.stringify` spells it, so that texts can be compared: PHP writes the slashes of
 * `"notifications/progress"` as `\/`, Python an `é` as `\u00e9`, Lua a 1 as 1.0, most a
 * 2.50 as 2.5. A whole number that a double cannot hold keeps its digits.
 */
export function plainText(json: string): string {
  if (json.charCodeAt(0) === QUOTE) return json.includes('\\') ? JSON.stringify(JSON.parse(json)) : json;
  const value = Number(json);
  if (Number.isSafeInteger(value)) return String(value);
  return Number.isFinite(value) && EXPONENT_OR_FRACTION.test(json) ? String(value) : json;
}

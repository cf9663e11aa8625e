import type { JsonPath } from '../ports/json.js';

/** Segment of a slot's path: every item of an array. */
export const EACH = '[]';

/** `pages[].data` as segments. */
export function segmentsOf(path: string): string[] {
  return path.replaceAll(EACH, `.${EACH}`).split('.').filter(Boolean);
}

/** `pages[2].data`, as refusals name it. */
export function spell(path: JsonPath): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('');
}

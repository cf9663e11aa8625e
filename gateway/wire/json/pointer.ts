/** Keys of objects, and indexes of arrays, that lead to a value. */
export type Path = readonly (string | number)[];

/** The JSON Pointer (RFC 6901) of a path. */
export function pointer(path: Path): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

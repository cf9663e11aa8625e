import { readFile } from 'node:fs/promises';

/** The lines of an audit log, or those about one kind of thing, such as `login`. */
export async function auditLines<Line extends object = Record<string, unknown>>(
  path: string,
  what?: string,
): Promise<Line[]> {
  // what has no end yet is still being written
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line)).filter((line) => what === undefined || line.what === what);
}

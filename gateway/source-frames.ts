import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The programs that are maps' business: those beside this one. */
const FOLDER = new URL('.', import.meta.url).href;
const PLACE = /^([\w./-]+\.js):(\d+):(\d+)/;
/** Known places, as the source's `file:line:column`. There are as many as the code has calls; this many have never been seen. */
const MOST_KNOWN = 2000;
const known = new Map<string, string>();

/**
 * An error's stack in which the frames of the bundle say where they are in the sources: `gateway/files/library.ts:31:7`.
 * A map is read when a frame is met that was not met before, which takes 10 to 30 ms, and is not kept: those of the whole
 * program are 25 MiB in memory. Only V8's own frames are looked at: behind the message, which may be a peer's text.
 */
export function stackInSources({ name, message, stack = '' }: Error): string {
  const head = message === '' ? name : `${name}: ${message}`;
  if (!stack.startsWith(`${head}\n`)) return stack;
  const maps = new Map<string, SourceMap | undefined>();
  const frames = stack.slice(head.length).split(FOLDER);
  return head + frames.map((text, index) => (index === 0 ? text : inSource(text, maps))).join('');
}

/** @param text what stands behind the folder: a place, and the rest of the stack up to the next */
function inSource(text: string, maps: Map<string, SourceMap | undefined>): string {
  const [place, file, line, column] = PLACE.exec(text) ?? [];
  if (place === undefined || file === undefined) return FOLDER + text;
  let source = known.get(place);
  if (source === undefined) {
    if (!maps.has(file)) maps.set(file, mapOf(file));
    // V8 counts columns from 1, source maps from 0
    source = sourceAt(maps.get(file), Number(line) - 1, Number(column) - 1) ?? FOLDER + place;
    if (known.size < MOST_KNOWN) known.set(place, source);
  }
  return source + text.slice(place.length);
}

function sourceAt(map: SourceMap | undefined, line: number, column: number): string | undefined {
  const entry = map?.findEntry(line, column);
  if (entry === undefined || !('originalSource' in entry)) return undefined;
  // from the program's folder up to that of the repository
  const file = entry.originalSource.replace(/^(?:\.\.\/)+/, '');
  return `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

/** @returns undefined without a map, or one that cannot be read */
function mapOf(file: string): SourceMap | undefined {
  try {
    const text = readFileSync(fileURLToPath(`${FOLDER}${file}.map`), 'utf8');
    return new SourceMap(JSON.parse(text) as SourceMapPayload);
  } catch {
    return undefined;
  }
}

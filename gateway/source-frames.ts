import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Where the programs are that have maps: beside this one. */
const FOLDER = new URL('.', import.meta.url).href;
const PLACE = /^([\w./-]+\.js):(\d+):(\d+)/;
/** Most places that are remembered. Further ones are not looked up, so that no text can make Wharf read maps on and on. */
const MOST_KNOWN = 2000;
/** Places in the sources, by those in the programs. */
const known = new Map<string, string>();

/**
 * An error's stack in which the frames of the bundle say where they are in the sources: `gateway/files/library.ts:31:7`.
 * A map is read when a frame is met that was not met before, which takes 10 to 25 ms, and is not kept: those of the whole
 * program are 84 MiB in memory. Only V8's own frames are looked at: behind the message, which may be a peer's text.
 */
export function stackInSources({ message, stack = '' }: Error): string {
  const end = endOfMessage(stack, message);
  if (end === undefined) return stack;
  const maps = new Map<string, SourceMap | undefined>();
  const frames = stack.slice(end).split(FOLDER);
  return stack.slice(0, end) + frames.map((text, index) => (index === 0 ? text : inSource(text, maps))).join('');
}

/** The message stands behind the name, and perhaps a code, in the first line. @returns undefined if it was changed since */
function endOfMessage(stack: string, message: string): number | undefined {
  const end = message === '' ? stack.indexOf('\n') : stack.indexOf(message) + message.length;
  const isFirst = !stack.slice(0, Math.max(0, end - message.length)).includes('\n');
  return isFirst && stack[end] === '\n' ? end : undefined;
}

/** @param text what stands behind the folder: a place, and the rest of the stack up to the next */
function inSource(text: string, maps: Map<string, SourceMap | undefined>): string {
  const [place, file, line, column] = PLACE.exec(text) ?? [];
  if (place === undefined || file === undefined) return FOLDER + text;
  let source = known.get(place);
  if (source === undefined) {
    if (known.size >= MOST_KNOWN) return FOLDER + text;
    if (!maps.has(file)) maps.set(file, mapOf(file));
    // V8 counts columns from 1, source maps from 0
    source = sourceAt(maps.get(file), Number(line) - 1, Number(column) - 1) ?? FOLDER + place;
    known.set(place, source);
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

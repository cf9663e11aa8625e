import { RANGE } from '../../mcp/ranges.js';
import type { JsonPath, OutgoingFile } from '../../ports/dialect.js';
import type { ToolSettings } from '../../ports/file-slot.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import type { NestedCut } from '../cut/nested-cuts.js';
import type { OutgoingFiles } from './outgoing-files.js';
import type { ToldNames } from './told-names.js';

export interface NestedContext {
  mayHoldFiles: (path: JsonPath) => boolean;
  settings: (path: JsonPath) => ToolSettings | undefined;
}

/** The files in text blocks that the operator configured as JSON (`results.text: json`). */
export function nestedFiles(message: HeldMessage, cuts: MessageCuts, context: NestedContext): NestedCut[] {
  return cuts.texts.flatMap(({ value: { path, offset }, nested }) => {
    if (!context.mayHoldFiles(path) || context.settings(path)?.results.text !== 'json') return [];
    const holder = message.ranges.find(
      ({ name, start, end }) => name === RANGE.holder && start < offset && offset < end,
    );
    const block: unknown = holder && JSON.parse(message.slice(holder.start, holder.end).toString('utf8'));
    return (block as { type?: unknown } | undefined)?.type === 'text' ? nested.files() : [];
  });
}

/** Puts links in their places: short ones, because a model reads the text, and spelled for JSON inside a string. */
export async function publishNested(
  nested: readonly NestedCut[],
  files: OutgoingFiles,
  { subject, names }: { subject: (path: JsonPath) => string; names: ToldNames },
): Promise<{ file: OutgoingFile; block: JsonPath }[]> {
  const published: { file: OutgoingFile; block: JsonPath }[] = [];
  for (const one of nested) {
    const { stored, value, dataUri } = one.cut;
    if (!stored) continue;
    const block = value.path.slice(0, -1);
    const file = await files.publish(stored, dataUri ?? {}, subject(value.path), (type) => names.nameAt(block, type));
    one.replacement = Buffer.from(inner(JSON.stringify(inner(JSON.stringify(file.ref.link.url)))));
    published.push({ file, block });
  }
  return published;
}

/** A JSON string without its quotes. */
function inner(json: string): string {
  return json.slice(1, -1);
}

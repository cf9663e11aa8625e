import { breathe } from '../../budget/turn.js';
import type { NamedType } from '../../files/names/told-name.js';
import type { OutgoingFile } from '../../ports/dialect.js';
import type { JsonPath } from '../../ports/json.js';
import { EACH, segmentsOf } from '../../schema/argument-path.js';
import { isDeclaredBase64 } from '../../schema/declared.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { Cut } from '../cut/cut.js';
import { beginsAsFormat, rawBeginsAsFormat } from '../cut/format-begin.js';
import { type ClaimedCut, isStructured, type MessageCuts } from '../cut/message-cuts.js';
import { refuseDuplicates } from './duplicates.js';
import { isReadByModel } from './host/read-by-model.js';
import type { OutgoingFiles } from './outgoing-files.js';
import { structuredPath } from './structured-results.js';
import type { NamingContext, StructureContext, TranslateContext } from './translate-context.js';

/** Bytes that are enough to know a format by. */
const BEGIN = 24;

/** A string of structuredContent that is a file. */
export interface StructuredFile {
  cut: Cut;
  file: OutgoingFile;
  /** Path of its result. */
  result: JsonPath;
  /** Path below structuredContent. */
  path: JsonPath;
}

/** What makes a file of a string that is expected to be one. */
type ExpectContext = StructureContext & NamingContext & Pick<TranslateContext, 'limits'>;

/**
 * The files in structuredContent: a string is one if it repeats a file of the same message, if its schema or the operator
 * declares it, or if it begins as one and a model would read it.
 */
export async function structuredFiles(
  message: HeldMessage,
  cuts: MessageCuts,
  files: OutgoingFiles,
  context: ExpectContext & Pick<TranslateContext, 'mayHoldFiles' | 'stays' | 'refused'>,
): Promise<StructuredFile[]> {
  const strings = cuts.cuts.filter(
    (cut) =>
      isStructured(cut) &&
      context.mayHoldFiles(cut.value.path) &&
      !context.stays(cut) &&
      !context.refused?.of(cut) &&
      !context.refused?.same(cut),
  );
  const found = new Map<Cut, OutgoingFile>();
  let known = -1;
  // a string may repeat a file that is only found behind it
  while (known < files.count) {
    known = files.count;
    for (const cut of strings) {
      // a message may have tens of thousands of them
      const wait = breathe(cuts.owner);
      if (wait) await wait;
      if (found.has(cut)) continue;
      const file = (await sameFile(cut, files)) ?? (await expectedFile(message, cut, files, context));
      if (file) found.set(cut, file);
    }
  }
  return strings.flatMap((cut) => {
    const file = found.get(cut);
    const path = structuredPath(cut.value.path);
    return file ? [{ cut, file, result: cut.value.path.slice(0, -path.length - 1), path }] : [];
  });
}

async function sameFile(cut: Cut, files: OutgoingFiles): Promise<OutgoingFile | undefined> {
  if (files.count === 0) return undefined;
  const digest = digestOf(cut);
  return digest === undefined ? undefined : files.get(digest);
}

function digestOf(cut: Cut): string | undefined {
  return cut.stored?.digest ?? cut.inspect()?.digest;
}

/**
 * True when a file is expected here: by the operator's settings or the tool's outputSchema, or because its host shows it to a
 * model.
 */
export async function isExpected(
  cut: Cut,
  { settings, structured, client }: Pick<StructureContext, 'settings' | 'structured' | 'client'>,
): Promise<boolean> {
  if (isReadByModel(client) && beginsFile(cut)) return true;
  if (isConfigured(cut.value.path, settings)) return true;
  const path = structuredPath(cut.value.path);
  const declared = await structured.declared(cut.value.path);
  return typeof declared !== 'string' && isDeclaredBase64(declared, path);
}

/** Whether the operator says that a string of structuredContent is a file. */
export function isConfigured(at: JsonPath, settings: StructureContext['settings']): boolean {
  const path = structuredPath(at);
  return (settings(at)?.results.files ?? []).some((place) => fits(segmentsOf(place), path));
}

function beginsFile({ stored, inlineBody }: Cut): boolean {
  if (stored) return beginsAsFormat(stored.head.toString('base64', 0, BEGIN));
  // a chunk may end within the first characters: the piece behind a short one is long
  return rawBeginsAsFormat(...(inlineBody ?? []).slice(0, 2));
}

/**
 * Digests of the files of a message, and of the strings of structuredContent where one is expected: MCP asks servers to
 * repeat structuredContent as JSON in a text block. Empty where no text has a string that may be a file.
 */
export async function knownDigests(
  files: readonly Pick<ClaimedCut, 'cut'>[],
  cuts: MessageCuts,
  context: Pick<TranslateContext, 'mayHoldFiles' | 'settings' | 'structured' | 'client'>,
): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  if (!cuts.texts.some(({ nested }) => nested.hasCuts)) return known;
  for (const { cut } of files) if (cut.stored) known.add(cut.stored.digest);
  for (const cut of cuts.cuts.filter(isStructured)) {
    const wait = breathe(cuts.owner);
    if (wait) await wait;
    if (!context.mayHoldFiles(cut.value.path) || !(await isExpected(cut, context))) continue;
    const digest = digestOf(cut);
    if (digest !== undefined) known.add(digest);
  }
  return known;
}

/**
 * True when the client would accept a link, or nothing, in place of the string. Checked before there is a file to link
 * to.
 */
export async function mayBeLinked(cut: Cut, { client, structured, sampleLinks }: StructureContext): Promise<boolean> {
  // the client was shown no schema that could refuse it
  if (client.host?.structured === 'drop') return true;
  return (await structured.fitting(cut, [...(await sampleLinks()), ''])) !== undefined;
}

function fits(segments: readonly string[], path: JsonPath): boolean {
  return (
    segments.length === path.length &&
    path.every((key, index) => (typeof key === 'number' ? segments[index] === EACH : segments[index] === key))
  );
}

async function expectedFile(
  message: HeldMessage,
  cut: Cut,
  files: OutgoingFiles,
  context: ExpectContext,
): Promise<OutgoingFile | undefined> {
  if (!cut.stored && (cut.size ?? 0) <= context.limits.inlineOther) return undefined;
  if (!(await isExpected(cut, context)) || !(await mayBeLinked(cut, context))) return undefined;
  if (!cut.stored) {
    cut.storeLate();
    await cut.pressure;
  }
  if (!cut.stored) return undefined;
  refuseDuplicates(message);
  const told = (type: NamedType) => context.names.nameAt(cut.value.path, type);
  return files.publish(cut.stored, context.names.besideAt(cut.value.path), context.subject(cut.value.path), told);
}

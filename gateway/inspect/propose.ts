import { type Encoding, encodingFacts, placeholdersOf } from '../encodings.js';
import type { DeclaredFile, Dialect } from '../ports/dialect.js';
import type { FileArgument } from '../ports/file-slot.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { EACH, joinPath } from '../schema/argument-path.js';
import { type UnknownArgument, unknownArguments } from '../schema/unknown-argument.js';
import { readTool } from '../tools/tool.js';
import { type Argument, type ArgumentMap, argumentsOf, fixedValue, textOf } from './argument.js';
import type { Confidence } from './clue.js';
import { acceptedTypes, companionKind, companionsOf } from './companions.js';
import { type Judgement, judge } from './judge.js';
import { otherWays } from './other-ways.js';

/** A file argument in the form of the config, with its reasons. */
export interface Proposal {
  file: FileArgument;
  confidence: Confidence;
  reasons: string[];
  /** Why it also takes addresses, paths or text, which a configured file argument would not. */
  otherWays?: string;
  /** A name on its path reads as several names in a config. */
  isAmbiguous: boolean;
}

export interface ToolProposals {
  tool: string;
  proposals: Proposal[];
  /** Arguments that the server itself declares as files: they need no config. */
  declared: { path: string; by: string }[];
  /** Configured, but missing in the tool. */
  unknown: UnknownArgument[];
}

const STRENGTH: Record<Confidence, number> = { certain: 3, likely: 2, possible: 1 };

/**
 * Proposes `files:` for a tool. Pure: the same tool always gives the same proposals.
 * @param configured what the config already says
 */
export function propose(
  tool: JsonObject,
  dialects: readonly Dialect[],
  configured: readonly FileArgument[] = [],
): ToolProposals {
  // a script writes the base64 itself
  const isForPages = dialects.some(({ pages }) => pages?.calls(tool));
  const { values, maps } = isForPages ? { values: [], maps: [] } : argumentsOf(tool);
  const declared = declarations(tool, dialects);
  const isDeclared = (path: readonly string[]) => declared.some((other) => isWithin(path, other.path));
  const judged = values
    .filter(({ path }) => !isDeclared(path))
    .flatMap((argument) => {
      const judgement = judge(argument);
      return judgement === undefined ? [] : [{ argument, judgement }];
    });
  const proposals = judged.map((one) => {
    // a weaker proposal is another way to give the same file more often than a second one
    const rivals = judged.filter(
      ({ judgement }) => STRENGTH[judgement.confidence] >= STRENGTH[one.judgement.confidence],
    );
    const isAlone = rivals.every(
      (other) => other === one || parentOf(other.argument.path) !== parentOf(one.argument.path) || same(one, other),
    );
    const map = maps.find(({ path }) => path.length > 0 && joinPath(path) === parentOf(one.argument.path));
    return (map && isAlone && ofMap(map, one)) || ofValue(one, isAlone);
  });
  return {
    tool: textOf(tool.name),
    proposals: withoutOverlap(proposals),
    declared: declared.map(({ path, by }) => ({ path: joinPath(path), by })),
    unknown: unknownArguments(tool, configured),
  };
}

interface Judged {
  argument: Argument;
  judgement: Judgement;
}

function ofValue({ argument, judgement }: Judged, isAlone: boolean): Proposal {
  const companions = companionsOf(argument, isAlone);
  const accept = acceptedTypes(argument, companions);
  const file = {
    path: joinPath(argument.path),
    encoding: judgement.encoding,
    ...(accept === undefined ? {} : { accept }),
    ...companions,
  };
  const { confidence, reasons } = judgement;
  return { file, confidence, reasons, ...also(argument), isAmbiguous: isAmbiguous(argument.path) };
}

/** The placeholder of an encoding in a template; undefined for plain text, which alone is not a file. */
function placeholderOf(encoding: Encoding): string | undefined {
  if (encodingFacts(encoding).isPlainText) return undefined;
  return placeholdersOf('content').some((name) => name === encoding) ? `$${encoding}` : undefined;
}

const COMPANION_PLACEHOLDERS = { name: '$name', mimeType: '$mime', size: '$size' };

/** The whole map as one file, if it holds nothing but the file and facts about it. */
function ofMap(map: ArgumentMap, { argument, judgement }: Judged): Proposal | undefined {
  const placeholder = placeholderOf(judgement.encoding);
  if (placeholder === undefined || Object.keys(map.properties).length < 2) return undefined;
  const template: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries(map.properties)) {
    const kind = companionKind(name, argument.name, schema);
    const fixed = fixedValue(schema);
    if (name === argument.name) template[name] = placeholder;
    else if (fixed !== undefined && !isPlaceholder(fixed)) template[name] = fixed;
    else if (kind !== undefined) template[name] = COMPANION_PLACEHOLDERS[kind];
    else return undefined;
  }
  const accept = acceptedTypes(argument, companionsOf(argument, true));
  const file: FileArgument = {
    path: joinPath(map.path),
    encoding: 'object',
    template,
    ...(accept === undefined ? {} : { accept }),
  };
  const reasons = [
    ...judgement.reasons.map((reason) => `in ${argument.name}: ${reason}`),
    'the map holds nothing else',
  ];
  return { file, confidence: judgement.confidence, reasons, ...also(argument), isAmbiguous: isAmbiguous(map.path) };
}

function also(argument: Argument): Pick<Proposal, 'otherWays'> {
  const why = otherWays(argument);
  return why === undefined ? {} : { otherWays: why };
}

function isPlaceholder(value: JsonValue): boolean {
  return typeof value === 'string' && value.startsWith('$');
}

/** The strongest proposal for each path, and none inside another. */
function withoutOverlap(proposals: readonly Proposal[]): Proposal[] {
  const kept = new Map<string, Proposal>();
  for (const proposal of proposals) {
    const other = kept.get(proposal.file.path);
    if (other === undefined || STRENGTH[other.confidence] < STRENGTH[proposal.confidence]) {
      kept.set(proposal.file.path, proposal);
    }
  }
  const paths = [...kept.keys()];
  return [...kept.values()].filter(({ file }) => !paths.some((other) => isBelow(file.path, other)));
}

function isBelow(path: string, other: string): boolean {
  return path.startsWith(`${other}.`) || path.startsWith(`${other}[]`);
}

/** Every declaration by which a server itself marks an argument as a file. */
function declarations(tool: JsonObject, dialects: readonly Dialect[]): DeclaredFile[] {
  const found = [
    ...dialects.flatMap((dialect) => dialect.declaredFiles?.(tool) ?? []),
    ...readTool(tool, { settings: {}, dialects }).facts.slots.map(({ path, declaredBy }) => ({ path, by: declaredBy })),
  ];
  return found.filter(
    ({ path }, index) => found.findIndex((other) => joinPath(other.path) === joinPath(path)) === index,
  );
}

function isWithin(path: readonly string[], outer: readonly string[]): boolean {
  return outer.every((segment, index) => segment === path[index]);
}

function same(a: Judged, b: Judged): boolean {
  return joinPath(a.argument.path) === joinPath(b.argument.path);
}

function parentOf(path: readonly string[]): string {
  const end = path.findLastIndex((segment) => segment !== EACH);
  return joinPath(path.slice(0, end));
}

/** In a config dots nest, and brackets mean the items of a list. */
function isAmbiguous(path: readonly string[]): boolean {
  return path.some((segment) => segment !== EACH && (segment.includes('.') || segment.includes(EACH)));
}

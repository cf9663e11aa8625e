import type { Dialect } from '../ports/dialect.js';
import type { FileArgument } from '../ports/file-slot.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { type UnknownArgument, unknownArguments } from '../schema/unknown-argument.js';
import { type Argument, type ArgumentMap, argumentsOf, isObject, textOf } from './argument.js';
import type { Confidence } from './clue.js';
import { acceptedTypes, companionKind, companionsOf } from './companions.js';
import { type Judgement, judge } from './judge.js';
import { otherWays } from './other-ways.js';

/** A file argument as the config would hold it, and why. */
export interface Proposal {
  file: FileArgument;
  confidence: Confidence;
  reasons: string[];
  /** Why it takes addresses or paths as well, which it would not as a file. */
  otherWays?: string;
  /** A name on its path reads as more than one name in a config. */
  isAmbiguous: boolean;
}

export interface ToolProposals {
  tool: string;
  proposals: Proposal[];
  /** Arguments that their server declares as files: they need no config. */
  declared: { path: string; by: string }[];
  /** Configured, but not there. */
  unknown: UnknownArgument[];
}

/**
 * What `files:` of a tool would say. Pure: the same tool, the same proposals.
 * @param configured what it says already
 */
export function propose(
  tool: JsonObject,
  dialects: readonly Dialect[],
  configured: readonly FileArgument[] = [],
): ToolProposals {
  const { values, maps, declared: byKeyword } = argumentsOf(tool);
  const declared = declarations(tool, dialects, byKeyword);
  const isDeclared = (path: readonly string[]) => declared.some((other) => isWithin(path, other.path));
  const judged = values
    .filter(({ path }) => !isDeclared(path))
    .flatMap((argument) => {
      const judgement = judge(argument);
      return judgement === undefined ? [] : [{ argument, judgement }];
    });
  const proposals = judged.map((one) => {
    const isAlone = judged.every(
      (other) => other === one || parentOf(other.argument.path) !== parentOf(one.argument.path) || same(one, other),
    );
    const map = maps.find(({ path }) => path.length > 0 && joined(path) === parentOf(one.argument.path));
    return (map && isAlone && ofMap(map, one)) || ofValue(one, isAlone);
  });
  return {
    tool: textOf(tool.name),
    proposals: withoutOverlap(proposals),
    declared: declared.map(({ path, by }) => ({ path: joined(path), by })),
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
    path: joined(argument.path),
    encoding: judgement.encoding,
    ...(accept === undefined ? {} : { accept }),
    ...companions,
  };
  const { confidence, reasons } = judgement;
  return { file, confidence, reasons, ...also(argument), isAmbiguous: isAmbiguous(argument.path) };
}

const PLACEHOLDERS: Partial<Record<Judgement['encoding'], string>> = {
  base64: '$base64',
  base64url: '$base64url',
  hex: '$hex',
  dataUri: '$dataUri',
};
const COMPANION_PLACEHOLDERS = { name: '$name', mimeType: '$mime', size: '$size' };

/** The whole map as one file, where it holds nothing but the file and what is known of it. */
function ofMap(map: ArgumentMap, { argument, judgement }: Judged): Proposal | undefined {
  const placeholder = PLACEHOLDERS[judgement.encoding];
  if (placeholder === undefined || Object.keys(map.properties).length < 2) return undefined;
  const template: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries(map.properties)) {
    const kind = companionKind(name, argument.name);
    const [fixed] = [
      schema.const,
      ...(Array.isArray(schema.enum) && schema.enum.length === 1 ? schema.enum : []),
    ].filter((value) => value !== undefined);
    if (name === argument.name) template[name] = placeholder;
    else if (fixed !== undefined && !isPlaceholder(fixed)) template[name] = fixed;
    else if (kind !== undefined) template[name] = COMPANION_PLACEHOLDERS[kind];
    else return undefined;
  }
  const accept = acceptedTypes(argument, companionsOf(argument, true));
  const file: FileArgument = {
    path: joined(map.path),
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

const STRENGTH: Record<Confidence, number> = { certain: 3, likely: 2, possible: 1 };

/** One proposal for a path, the strongest, and none inside another. */
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

/** Every way in which a server says itself that an argument is a file, whichever Wharf's dialects read of them. */
function declarations(
  tool: JsonObject,
  dialects: readonly Dialect[],
  byKeyword: readonly { path: readonly string[]; by: string }[],
) {
  const meta = isObject(tool._meta) ? tool._meta['openai/fileParams'] : undefined;
  const listed = Array.isArray(meta) ? meta.filter((name) => typeof name === 'string') : [];
  const found = [
    ...byKeyword,
    ...Object.keys(isObject(tool.inputFiles) ? tool.inputFiles : {}).map((name) => ({
      path: [name],
      by: 'inputFiles',
    })),
    ...listed.map((name) => ({ path: [name], by: 'openai/fileParams' })),
    ...dialects.flatMap((dialect) =>
      (dialect.slotsOf?.(tool) ?? []).map(({ path, declaredBy }) => ({ path, by: declaredBy })),
    ),
  ];
  return found.filter(({ path }, index) => found.findIndex((other) => joined(other.path) === joined(path)) === index);
}

function isWithin(path: readonly string[], outer: readonly string[]): boolean {
  return outer.every((segment, index) => segment === path[index]);
}

function same(a: Judged, b: Judged): boolean {
  return joined(a.argument.path) === joined(b.argument.path);
}

function parentOf(path: readonly string[]): string {
  const end = path.findLastIndex((segment) => segment !== '[]');
  return joined(path.slice(0, end));
}

/** In a config dots nest, and brackets stand for the items of a list. */
function isAmbiguous(path: readonly string[]): boolean {
  return path.some((segment) => segment !== '[]' && (segment.includes('.') || segment.includes('[]')));
}

function joined(path: readonly string[]): string {
  return path.join('.').replaceAll('.[]', '[]');
}

import { ENCODINGS, type Encoding, encodingFacts } from '../../encodings.js';
import type { Limits } from '../../policy/limits.js';
import { TOOL_MESSAGE_LIMITS, type ToolLimitSettings } from '../../policy/tool-limits.js';
import { formatSize } from '../../policy/units.js';
import { joinPath } from '../../schema/argument-path.js';
import { type ConfigProblem, type Path, problem } from '../problems.js';
import { splitPath } from '../schema/argument-path.js';
import { toolLimitsSchema } from '../schema/tool-limits.js';
import { fileArgumentSchema } from '../schema/tools.js';
import type { ServerTransport } from '../transports.js';
import { raisedLimit } from './raised-limit.js';

interface ServerFacts {
  transport: ServerTransport;
  /** Undefined when the limits have problems of their own. */
  limits: Limits | undefined;
}

/** The largest file that an argument may take, and what says so. */
interface FileBound {
  bytes: number;
  name: string;
}

/** Settings of a tool that an entry for several cannot have. */
const SINGLE: ReadonlySet<string> = new Set(['name', 'description', 'files', 'results']);

const COMPANIONS = ['name', 'mimeType', 'size'] as const;

/**
 * Checks rules between the values of a server's `tools`. Uses the values as written, so that these problems are
 * reported together with those of single values.
 */
export function toolProblems(tools: unknown, path: Path, server: ServerFacts): ConfigProblem[] {
  return entriesOf(tools).flatMap(([tool, settings]) => {
    const own = isMap(settings) ? settings : {};
    const files = entriesOf(own.files);
    const at = [...path, tool, 'files'];
    const limits = limitsIn(own);
    const bound = fileBound(limits, server);
    return [
      ...patternProblems(tool, own, [...path, tool]),
      ...raisedProblems(limits, [...path, tool, 'limits'], server),
      ...files.flatMap(([argument, file]) =>
        isMap(file) ? argumentProblems(file, [...at, argument], { ...server, bound }) : [],
      ),
      ...placeProblems(files, at),
    ];
  });
}

/** Names and files belong to a single tool. */
function patternProblems(tool: string, settings: Record<string, unknown>, path: Path): ConfigProblem[] {
  if (!tool.includes('*')) return [];
  const others = Object.keys(settings).filter((key) => SINGLE.has(key));
  return others.map((key) => problem([...path, key], 'is for a single tool, and * in a name means several'));
}

/** What is written there, as far as it is well-formed. */
function limitsIn({ limits }: Record<string, unknown>): ToolLimitSettings {
  if (!isMap(limits)) return {};
  const { shape } = toolLimitsSchema();
  const read = TOOL_MESSAGE_LIMITS.map((name) => [name, shape[name]?.safeParse(limits[name]).data]);
  return Object.fromEntries(read) as ToolLimitSettings;
}

/** A tool's own section must never be the weaker bound. */
function raisedProblems(limits: ToolLimitSettings, path: Path, server: ServerFacts): ConfigProblem[] {
  return TOOL_MESSAGE_LIMITS.flatMap((name) => {
    const [value, most] = [limits[name], server.limits?.[name]];
    if (value === undefined || most === undefined || value <= most) return [];
    return [raisedLimit([...path, name], value, { name, most, of: "this server's limits" })];
  });
}

function fileBound({ file }: ToolLimitSettings, { limits }: ServerFacts): FileBound | undefined {
  if (limits === undefined) return undefined;
  return file !== undefined && file < limits.file
    ? { bytes: file, name: "this tool's limits.file" }
    : { bytes: limits.file, name: "this server's limits.file" };
}

function argumentProblems(
  file: Record<string, unknown>,
  path: Path,
  server: ServerFacts & { bound: FileBound | undefined },
): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const { encoding } = file;
  const hasTemplate = file.template !== undefined;
  if (encoding === 'object' && !hasTemplate) {
    problems.push(
      problem([...path, 'template'], 'is required with encoding object, such as { data: $base64, mimeType: $mime }'),
    );
  }
  if (encoding !== 'object' && hasTemplate) {
    problems.push(problem([...path, 'template'], 'is only for encoding: object'));
  }
  if (isOnDisk(encoding) && server.transport !== 'stdio') {
    const text = 'is only for stdio servers: one that is reached over HTTP may not see the files of this machine';
    problems.push(problem([...path, 'encoding'], text, encoding));
  }
  const maxSize = fileArgumentSchema.shape.maxSize.safeParse(file.maxSize).data;
  const { bound } = server;
  if (maxSize !== undefined && bound !== undefined && maxSize > bound.bytes) {
    const text = `must not be more than ${bound.name}, which is ${formatSize(bound.bytes)}`;
    problems.push(problem([...path, 'maxSize'], text, file.maxSize));
  }
  return problems;
}

/** True when a server gets the file as a file on this machine. */
function isOnDisk(encoding: unknown): boolean {
  if (typeof encoding !== 'string' || !Object.hasOwn(ENCODINGS, encoding)) return false;
  const { address } = encodingFacts(encoding as Encoding);
  return address === 'path' || address === 'uri';
}

/** Checks that each argument is a file, or is filled from one, at most once. */
function placeProblems(files: readonly [string, unknown][], at: Path): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const paths = files.map(([argument]) => splitPath(argument));
  /** Argument → its present use. */
  const taken = new Map(files.map(([argument]) => [argument, 'is itself a file']));
  files.forEach(([argument, file], index) => {
    const path = paths[index];
    if (path === undefined) return;
    const outer = paths.find((other) => other && other.length < path.length && other.every((s, i) => s === path[i]));
    if (outer) problems.push(problem([...at, argument], `is inside ${joinPath(outer)}, which is replaced as a whole`));
    for (const key of COMPANIONS) {
      const companion = isMap(file) ? file[key] : undefined;
      if (typeof companion !== 'string' || splitPath(companion) === undefined) continue;
      const items = itemsAt(argument);
      if (itemsAt(companion) !== items) {
        const shape =
          items === ''
            ? 'must not end with [], for its file is not in a list'
            : `must end with ${items}, as the path of its file does`;
        problems.push(problem([...at, argument, key], shape, companion));
        continue;
      }
      const sibling = argument.slice(0, argument.lastIndexOf('.') + 1) + companion;
      const holder = taken.get(sibling);
      if (holder !== undefined)
        problems.push(problem([...at, argument, key], `names an argument that ${holder}`, companion));
      else taken.set(sibling, `is already filled from ${argument}`);
    }
  });
  return problems;
}

/** The `[]` that a path ends with. */
function itemsAt(path: string): string {
  return /(?<!\[\])(?:\[\])*$/.exec(path)?.[0] ?? '';
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entriesOf(value: unknown): [string, unknown][] {
  return isMap(value) ? Object.entries(value) : [];
}

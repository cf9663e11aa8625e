import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';
import type { Pattern } from './parse.js';

const ROOT = join(import.meta.dirname, '../../../..');

interface FoundPattern extends Pattern {
  /** Path from the repository's root, and line. */
  place: string;
}

interface FoundPatterns {
  patterns: FoundPattern[];
  /** Places where a pattern is made of more than constants of its file, as `path: argument`. */
  made: string[];
}

/** Every pattern of the sources in some folders: literals, and those made by `RegExp`. */
export function patternsIn(folders: readonly string[]): FoundPatterns {
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const found: FoundPatterns = { patterns: [], made: [] };
  for (const path of files.filter((name) => /\.tsx?$/.test(name)).sort()) {
    const { patterns, made } = patternsOf(path, readFileSync(join(ROOT, path), 'utf8'));
    found.patterns.push(...patterns);
    found.made.push(...made);
  }
  return found;
}

/** The patterns of one file. */
export function patternsOf(path: string, text: string): FoundPatterns {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const found: FoundPatterns = { patterns: [], made: [] };
  const constants = constantsOf(program);
  const placeOf = (node: { start: number }) => `${path}:${text.slice(0, node.start).split('\n').length}`;
  const construct = (node: ESTree.NewExpression | ESTree.CallExpression) => {
    if (node.callee.type !== 'Identifier' || node.callee.name !== 'RegExp') return;
    const [source, flags] = node.arguments.map((argument) => textOf(argument, constants));
    const isConstant = source !== undefined && (node.arguments.length === 1 || flags !== undefined);
    if (isConstant) found.patterns.push({ place: placeOf(node), source, flags: flags ?? '' });
    else found.made.push(`${path}: ${text.slice(node.arguments[0]?.start, node.arguments[0]?.end)}`);
  };
  new Visitor({
    Literal(node) {
      if (!('regex' in node)) return;
      found.patterns.push({ place: placeOf(node), source: node.regex.pattern, flags: node.regex.flags });
    },
    NewExpression: construct,
    CallExpression: construct,
  }).visit(program);
  return found;
}

type Constants = ReadonlyMap<string, ESTree.Node>;

/** What stands behind the names that the file itself declares at its top. */
function constantsOf(program: ESTree.Program): Constants {
  const declared = program.body.flatMap((statement) => {
    const inside = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    return inside?.type === 'VariableDeclaration' && inside.kind === 'const' ? inside.declarations : [];
  });
  return new Map(
    declared.flatMap(({ id, init }): [string, ESTree.Node][] =>
      id.type === 'Identifier' && init ? [[id.name, init]] : [],
    ),
  );
}

/** The text that an expression always is; undefined if it depends on more than constants. */
function textOf(node: ESTree.Node | undefined, constants: Constants): string | undefined {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node?.type === 'Identifier') return textOf(constants.get(node.name), constants);
  if (node?.type === 'TemplateLiteral') return joined(node, constants, ({ cooked }) => cooked);
  if (node?.type === 'TaggedTemplateExpression' && isRaw(node.tag)) {
    return joined(node.quasi, constants, ({ raw }) => raw);
  }
  return undefined;
}

function joined(
  { quasis, expressions }: ESTree.TemplateLiteral,
  constants: Constants,
  read: (value: ESTree.TemplateElement['value']) => string | null | undefined,
): string | undefined {
  const pieces = quasis.flatMap(({ value }, index) => [
    read(value),
    index < expressions.length ? textOf(expressions[index], constants) : '',
  ]);
  return pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : undefined;
}

function isRaw(tag: ESTree.Expression): boolean {
  return (
    tag.type === 'MemberExpression' &&
    tag.object.type === 'Identifier' &&
    tag.object.name === 'String' &&
    tag.property.type === 'Identifier' &&
    tag.property.name === 'raw'
  );
}

/** One line of YAML, the lines below it, and the comments above it. */
export interface YamlNode {
  /** `key:` or `key: value`; absent for a node of comments only. */
  line?: string;
  comments?: readonly string[];
  /** False: shown only as a comment, unless something below it is active. */
  isMeant?: boolean;
  children?: readonly YamlNode[];
}

const INDENT = '  ';
/** Column at which a comment wraps. */
const WIDTH = 100;

/** Lines of a block map. An inactive node becomes a comment, which is YAML again without its `# `. */
export function yamlLines(nodes: readonly YamlNode[], depth = 0): string[] {
  return nodes.flatMap((node) => {
    if (isMeant(node)) return nodeLines(node, depth, (children) => yamlLines(children, depth + 1));
    const hidden = nodeLines({ ...node }, 0, (children) => plainLines(children, 1));
    return hidden.map((line) => `${INDENT.repeat(depth)}${line.startsWith('#') ? line : `# ${line}`}`);
  });
}

/** All lines of a node that is a comment as a whole. */
function plainLines(nodes: readonly YamlNode[], depth: number): string[] {
  return nodes.flatMap((node) => nodeLines(node, depth, (children) => plainLines(children, depth + 1)));
}

function nodeLines(
  { line, comments = [], children = [] }: YamlNode,
  depth: number,
  below: (children: readonly YamlNode[]) => string[],
): string[] {
  const indent = INDENT.repeat(depth);
  const told = comments.flatMap((comment) => wrapped(comment, WIDTH - indent.length - 2));
  return [
    ...told.map((text) => `${indent}# ${text}`),
    ...(line === undefined ? [] : [indent + line]),
    ...below(children),
  ];
}

function isMeant({ isMeant: own, children = [] }: YamlNode): boolean {
  return own === true || children.some(isMeant);
}

/** A server's texts may contain line breaks and terminal escapes; a comment must not. */
export function commentText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ');
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of commentText(text).split(' ')) {
    if (line !== '' && line.length + word.length >= width) {
      lines.push(line);
      line = `  ${word}`;
    } else line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}

/** Needs no quotes anywhere, and is not a number, boolean or null in any YAML version. */
const PLAIN = /^(?!(?:true|false|yes|no|on|off|y|n|null)$)[A-Za-z$][\w$./+-]*$/i;

/** A key, or a value without variables. */
export function yamlText(text: string): string {
  if (PLAIN.test(text)) return text;
  // JSON's double quotes, with escapes for what YAML does not consider printable
  return JSON.stringify(text).replace(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** A JSON value in one line; `${` is escaped so that it stays literal. */
export function yamlFlow(value: unknown): string {
  if (typeof value === 'string') return yamlText(value.replaceAll('${', () => '$${'));
  if (Array.isArray(value)) return `[${value.map(yamlFlow).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, item]) => `${yamlText(key)}: ${yamlFlow(item)}`);
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}

import { readFileSync, writeFileSync } from 'node:fs';
import { isMap, isScalar, type Node, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml';

/**
 * Writes the table of the chart's README from its values.yaml: every value that has a comment which begins with `--`,
 * as helm-docs reads them.
 */

/** Compiled, this file is dist/deploy/helm/readme.js. */
const CHART = new URL('../../../deploy/helm/wharf/', import.meta.url);

const BETWEEN = /(<!-- values -->\n)[\s\S]*(<!-- end of values -->)/;

interface Row {
  path: string;
  fallback: string;
  text: string;
}

/** The rows of a values.yaml, in its order. A map whose members have comments of their own has none itself. */
function rowsOf(yaml: string): Row[] {
  const { contents } = parseDocument(yaml);
  return isMap(contents) ? rowsBelow(contents, '') : [];
}

function rowsBelow(map: YAMLMap, prefix: string): Row[] {
  return map.items.flatMap((item, index) => {
    const { key, value } = item as Pair<Node, Node>;
    if (!isScalar(key)) return [];
    const path = `${prefix}${key.value}`;
    // the parser gives the comment of the first member to the map
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined) ?? '';
    const text = / ?-- ([\s\S]*)/.exec(comment)?.[1];
    if (text !== undefined) return [{ path, fallback: value ? inline(value) : '', text: oneLine(text) }];
    return isMap(value) ? rowsBelow(value, `${path}.`) : [];
  });
}

function inline(value: Node): string {
  return stringify(value.toJSON?.() ?? value, {
    collectionStyle: 'flow',
    lineWidth: 0,
    flowCollectionPadding: false,
  }).trim();
}

function oneLine(comment: string): string {
  return comment
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
    .trim();
}

const readme = new URL('README.md', CHART);
const table = [
  '| value | default | |',
  '| --- | --- | --- |',
  ...rowsOf(readFileSync(new URL('values.yaml', CHART), 'utf8')).map(
    ({ path, fallback, text }) => `| \`${path}\` | \`${fallback}\` | ${text} |`,
  ),
];
writeFileSync(readme, readFileSync(readme, 'utf8').replace(BETWEEN, `$1${table.join('\n')}\n$2`));

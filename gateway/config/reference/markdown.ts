import { stringify } from 'yaml';
import { TOP_LEVEL_EXAMPLE } from './examples.js';
import { HEAD } from './head.js';
import type { SchemaNode } from './reference.js';
import { branchesOf, cell, defaultOf, isMapOfMaps, typeOf } from './words.js';

/**
 * Writes CONFIG.md: one table for the top level, then one per section, adapter and kind of server, each with an
 * example.
 */
export function configMarkdown(schema: SchemaNode): string {
  const properties = Object.entries(schema.properties ?? {});
  const sections = properties.filter(([, node]) => branchesOf(node).length > 0);
  const inSections = new Set(sections.map(([name]) => name));
  return [
    HEAD,
    '## Top level',
    '',
    table(properties, schema, (key) => (inSections.has(key) ? `[\`${key}\`](#${key.toLowerCase()})` : `\`${key}\``)),
    '',
    ...yamlBlock(TOP_LEVEL_EXAMPLE),
    ...sections.flatMap(([name, node]) => section(name, node)),
  ].join('\n');
}

function section(name: string, node: SchemaNode): string[] {
  const intro = node.description === undefined ? [] : [node.description, ''];
  const branches = merged(branchesOf(node));
  const parts = branches.flatMap((branch) => {
    const title = branches.length === 1 ? [] : [`### ${titleOf(name, branch)}`, ''];
    const uses = branch.properties?.use?.prefixItems;
    // A list of uses has the keys of each of them, which stand above.
    if (uses !== undefined) return [...title, `All keys of ${uses.map(codeOf).join(' and ')}.`, ''];
    return [...title, table(rowsOf(branch), branch), '', ...limitsOf(branch)];
  });
  // Branches that share a map describe it identically.
  const inner = new Map(branches.flatMap((branch) => innerMaps(`${name}${isMapOfMaps(node) ? '.*' : ''}`, branch)));
  const examples = (node.examples ?? []).flatMap((example) => yamlBlock({ [name]: example }));
  return [`## \`${name}\``, '', ...intro, ...parts, ...[...inner.values()].flat(), ...examples];
}

function yamlBlock(value: unknown): string[] {
  return ['```yaml', stringify(value, { lineWidth: 0 }).trimEnd(), '```', ''];
}

/** Puts variants with the same keys into one table: a server is reached by HTTP or by HTTP+SSE. */
function merged(branches: readonly SchemaNode[]): SchemaNode[] {
  const byKeys = new Map<string, SchemaNode>();
  for (const branch of branches) {
    const properties = branch.properties ?? {};
    const keys = properties.use === undefined ? Object.keys(properties).join() : typeOf(properties.use);
    const known = byKeys.get(keys);
    byKeys.set(keys, known === undefined ? branch : united(known, branch));
  }
  return [...byKeys.values()];
}

function united(one: SchemaNode, other: SchemaNode): SchemaNode {
  const properties = Object.entries(one.properties ?? {}).map(([key, node]): [string, SchemaNode] => {
    const constant = other.properties?.[key]?.const;
    if (node.const === undefined || constant === undefined || constant === node.const) return [key, node];
    const { const: mine, ...rest } = node;
    return [key, { ...rest, enum: [mine, constant] }];
  });
  const required = one.required?.filter((key) => other.required?.includes(key)) ?? [];
  return { ...one, properties: Object.fromEntries(properties), required };
}

/** A table for each map of maps below a section, by its path: `servers.*.tools.*`. */
function innerMaps(path: string, node: SchemaNode): [string, string[]][] {
  return Object.entries(node.properties ?? {}).flatMap(([key, property]): [string, string[]][] => {
    if (!isMapOfMaps(property)) return [];
    const inner = `${path}.${key}.*`;
    return branchesOf(property).flatMap((branch): [string, string[]][] => [
      [inner, [`### \`${inner}\``, '', table(rowsOf(branch), branch), '', ...limitsOf(branch)]],
      ...innerMaps(inner, branch),
    ]);
  });
}

/** Lists a server's own limits by name only; the section of that name explains them. */
function limitsOf(branch: SchemaNode): string[] {
  const names = Object.keys(branch.properties?.limits?.properties ?? {});
  return names.length === 0 ? [] : [`Keys of \`limits\`: ${names.map((name) => `\`${name}\``).join(', ')}.`, ''];
}

/** The keys of a map, and below each the keys of the map, or of the list of maps, that it contains: `keys[].name`. */
function rowsOf(node: SchemaNode): [string, SchemaNode][] {
  return Object.entries(node.properties ?? {}).flatMap(([key, property]): [string, SchemaNode][] => {
    if (isMapOfMaps(property) || key === 'limits') return [[key, property]];
    const path = property.type === 'array' ? `${key}[]` : key;
    const below = branchesOf(property).flatMap((branch) =>
      rowsOf(branch).map(([inner, one]): [string, SchemaNode] => [
        `${path}.${inner}`,
        branch.required?.includes(inner) ? { ...one, isRequired: true } : one,
      ]),
    );
    return [[key, property], ...below];
  });
}

function titleOf(section: string, { properties = {} }: SchemaNode): string {
  const { use, command, url } = properties;
  if (use !== undefined) return `\`${section}: { use: ${typeOf(use).replaceAll('`', '')} }\``;
  if (command !== undefined) return 'A stdio server';
  return url === undefined ? `\`${section}[].${Object.keys(properties).join()}\`` : 'An HTTP server';
}

function codeOf({ const: value }: SchemaNode): string {
  return `\`${String(value)}\``;
}

function table(
  rows: readonly [string, SchemaNode][],
  { required }: SchemaNode,
  nameOf = (key: string) => `\`${key}\``,
): string {
  const lines = useFirst(rows).map(([key, property]) => {
    const byDefault = required?.includes(key) || property.isRequired ? 'required' : defaultOf(property);
    return `| ${nameOf(key)} | ${typeOf(property)} | ${byDefault} | ${cell(property.description ?? '')} |`;
  });
  return ['| key | value | default | |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

// Puts `use` first in its table, as in a file.
function useFirst(properties: readonly [string, SchemaNode][]): [string, SchemaNode][] {
  return properties.toSorted(([a], [b]) => Number(b === 'use') - Number(a === 'use'));
}

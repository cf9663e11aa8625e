import type { SchemaNode } from './reference.js';

/** Spells types and defaults for the reference. */

/** The maps that a node, an item of its list or a value of its map can be. */
export function branchesOf(node: SchemaNode): SchemaNode[] {
  const values = typeof node.additionalProperties === 'object' ? node.additionalProperties : (node.items ?? node);
  return (values.oneOf ?? values.anyOf ?? [values]).filter((branch) => branch.properties !== undefined);
}

export function isMapOfMaps(node: SchemaNode): boolean {
  return typeof node.additionalProperties === 'object' && branchesOf(node).length > 0;
}

export function defaultOf(node: SchemaNode): string {
  if (node.default === undefined) return '';
  if (node.default === '') return '`""`';
  if (typeof node.default !== 'object' || node.default === null) return `\`${String(node.default)}\``;
  if (Array.isArray(node.default)) return '`[]`';
  const pairs = Object.entries(node.default).map(([key, value]) => `${key}: ${String(value)}`);
  return pairs.length === 0 ? '' : `\`{ ${pairs.join(', ')} }\``;
}

export function typeOf(node: SchemaNode): string {
  if (node.const !== undefined) return `\`${String(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(', ');
  const alternatives = node.anyOf ?? node.oneOf;
  if (alternatives !== undefined) return eitherOf(alternatives);
  if (node.properties !== undefined) return 'map';
  switch (node.type) {
    case 'array':
      return branchesOf(node).length > 0 ? 'list of maps' : `list of ${plural(typeOf(node.items ?? {}))}`;
    case 'object':
      return isMapOfMaps(node) ? 'map of maps' : 'map of strings';
    case 'string':
      return isTime(node) ? 'time' : 'string';
    case 'integer':
      return 'number';
    case 'boolean':
      return '`true`, `false`';
    default:
      return String(node.type ?? 'any value');
  }
}

function eitherOf(alternatives: readonly SchemaNode[]): string {
  const isSize =
    alternatives.some(({ type }) => type === 'string') && alternatives.some(({ type }) => type === 'integer');
  return isSize ? 'size' : [...new Set(alternatives.map(typeOf))].join(', or ');
}

function plural(type: string): string {
  return type === 'string' ? 'strings' : type;
}

function isTime(node: SchemaNode): boolean {
  return node.pattern?.includes('ms|s|m') ?? false;
}

export function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/\n/g, ' ');
}

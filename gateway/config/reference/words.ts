import type { SchemaNode } from './reference.js';
import { alternativesOf } from './reference.js';

/** Spells types and defaults for the reference. */

/** The maps that a node, an item of its list or a value of its map can be. */
export function branchesOf(node: SchemaNode): SchemaNode[] {
  const values = valuesOf(node) ?? node;
  return alternativesOf(values).filter((branch) => branch.properties !== undefined);
}

/** The items of a list, or the values of a map whose keys are free. */
function valuesOf({ additionalProperties, items }: SchemaNode): SchemaNode | undefined {
  if (typeof additionalProperties === 'object') return additionalProperties;
  return typeof items === 'object' ? items : undefined;
}

/** Whether a node is a map whose values have keys of their own, which then have rows of their own. */
export function isMapOfMaps(node: SchemaNode): boolean {
  return typeof node.additionalProperties === 'object' && branchesOf(node).length > 0;
}

/** The column `default` of the reference, in Markdown; empty without one. */
export function defaultOf(node: SchemaNode): string {
  if (node.default === undefined) return '';
  if (node.default === '') return '`""`';
  if (typeof node.default !== 'object' || node.default === null) return `\`${String(node.default)}\``;
  if (Array.isArray(node.default)) return `\`[${node.default.map(String).join(', ')}]\``;
  const pairs = Object.entries(node.default).map(([key, value]) => `${key}: ${String(value)}`);
  return pairs.length === 0 ? '' : `\`{ ${pairs.join(', ')} }\``;
}

/** The column `value` of the reference, in Markdown. */
export function typeOf(node: SchemaNode): string {
  if (node.const !== undefined) return `\`${String(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (node.prefixItems !== undefined) return `\`[${node.prefixItems.map((item) => String(item.const)).join(', ')}]\``;
  if (node.anyOf !== undefined || node.oneOf !== undefined) return eitherOf(alternativesOf(node));
  if (node.properties !== undefined) return 'map';
  switch (node.type) {
    case 'array':
      return branchesOf(node).length > 0 ? 'list of maps' : `list of ${plural(typeOf(valuesOf(node) ?? {}))}`;
    case 'object':
      return isMapOfMaps(node) ? 'map of maps' : `map of ${plural(typeOf(valuesOf(node) ?? {}))}`;
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
  return type.replace(/\b(?:string|number|list)\b/g, '$&s');
}

function isTime(node: SchemaNode): boolean {
  return node.pattern?.includes('ms|s|m') ?? false;
}

/** Escapes a text for a cell of a table in Markdown. */
export function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/\n/g, ' ');
}

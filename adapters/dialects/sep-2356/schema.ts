import type { JsonValue } from '../../../gateway/ports/dialect.js';
import { isObject } from '../common/json.js';
import { type Budget, branchesOf, mayLook, pointed } from '../common/schema.js';

/** What a file argument is: one file, or a list of them. */
export type Shape = 'string' | 'strings';

/** The shape of a schema that may hold data: URIs; through local references and the branches of a union. */
export function shapeOf(schema: JsonValue | undefined, root: JsonValue | undefined, budget: Budget): Shape | undefined {
  const look = (node: JsonValue | undefined, depth: number): Shape | undefined => {
    if (!mayLook(budget, depth) || !isObject(node)) return undefined;
    const types = Array.isArray(node.type) ? node.type : [node.type];
    if (types.includes('string') || (node.type === undefined && node.format === 'uri')) return 'string';
    if (types.includes('array')) return look(node.items, depth + 1) === 'string' ? 'strings' : undefined;
    if (typeof node.$ref === 'string') return look(pointed(root, node.$ref), depth + 1);
    for (const branch of branchesOf(node)) {
      const shape = look(branch, depth + 1);
      if (shape) return shape;
    }
    return undefined;
  };
  return look(schema, 0);
}

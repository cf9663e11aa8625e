import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { Budget } from '../../../gateway/schema/budget.js';
import { alternatives } from '../../../gateway/schema/walk.js';

/** Shape of a file argument: one file, or a list of them. */
export type Shape = 'string' | 'strings';

/** The shape of a schema that accepts data: URIs, through local references and the branches of a union. */
export function shapeOf(schema: JsonValue | undefined, root: JsonValue | undefined, budget: Budget): Shape | undefined {
  for (const one of alternatives(schema, root, budget)) {
    if (!one) continue;
    if (isText(one)) return 'string';
    if (typesOf(one).includes('array') && holdsText(one.items, root, budget)) return 'strings';
  }
  return undefined;
}

function holdsText(items: JsonValue | undefined, root: JsonValue | undefined, budget: Budget): boolean {
  for (const one of alternatives(items, root, budget)) if (one && isText(one)) return true;
  return false;
}

function isText(schema: JsonObject): boolean {
  return typesOf(schema).includes('string') || (schema.type === undefined && schema.format === 'uri');
}

function typesOf({ type }: JsonObject): (JsonValue | undefined)[] {
  return Array.isArray(type) ? type : [type];
}

import type { Limits } from '../../policy/limits.js';
import type { Dialect, JsonObject } from '../../ports/dialect.js';

/** The capabilities that Wharf declares, whatever the client is. */
export function declaredBy({ dialects, limits }: { dialects: readonly Dialect[]; limits: Limits }): JsonObject {
  return Object.assign(
    {},
    ...dialects.map(({ declares }) => (typeof declares === 'function' ? declares(limits) : declares)),
  ) as JsonObject;
}

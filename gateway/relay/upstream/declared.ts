import { type Members, membersOf } from '../../json/edit.js';
import type { Limits } from '../../policy/limits.js';
import type { Dialect, JsonObject } from '../../ports/dialect.js';

interface Declaring {
  dialects: readonly Dialect[];
  limits: Limits;
}

/** Of each server, which does not change. */
const DECLARED = new WeakMap<Declaring, Members>();

/** The capabilities that Wharf declares, whatever the client is, with their text. @param declaring stays the same object */
export function declaredMembers(declaring: Declaring): Members {
  let members = DECLARED.get(declaring);
  if (!members) {
    members = membersOf(declaredIn(declaring));
    DECLARED.set(declaring, members);
  }
  return members;
}

/** The capabilities that Wharf declares, whatever the client is. */
export function declaredBy(declaring: Declaring): JsonObject {
  return declaredMembers(declaring).values;
}

function declaredIn({ dialects, limits }: Declaring): JsonObject {
  return Object.assign(
    {},
    ...dialects.map(({ declares }) => (typeof declares === 'function' ? declares(limits) : declares)),
  ) as JsonObject;
}

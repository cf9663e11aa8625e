import { isObject } from '../../json/value.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { JsonObject } from '../../ports/json.js';
import { asksBy, ELICITATION, type MeansDeps, showsForms, wayFor } from './means.js';

/**
 * The elicitation that a server sees instead of its client's: Wharf adds the modes in which servers ask for files, and
 * asks the client in the way that it knows. Undefined where there is no such way.
 */
export function elicitationFor(
  client: ClientFacts,
  deps: MeansDeps & { limits: Pick<Limits, 'file'> },
): JsonObject | undefined {
  const { file } = deps.limits;
  const own = client.capabilities[ELICITATION];
  if (!asksBy(client)) return undefined;
  const declared = isObject(own) ? own : {};
  if (!wayFor({ name: 'file', maxSize: file, maxInline: file }, client, deps)) return undefined;
  const added = deps.dialects.map(({ asks }) => asks?.declares?.(declared, file));
  // one that declares no mode shows forms, and a server must still see that
  const forms = showsForms(client) && declared.form === undefined ? { form: {} } : {};
  return Object.assign({ ...forms, ...declared }, ...added) as JsonObject;
}

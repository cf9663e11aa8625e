import { isObject, own } from '../json/value.js';
import type { JsonObject } from '../ports/json.js';

const PREFIX = 'io.modelcontextprotocol/';

/** Keys of a request's `_meta` by which a client without a session says, with each request, what `initialize` says once. */
export const META_VERSION = `${PREFIX}protocolVersion`;
export const META_CAPABILITIES = `${PREFIX}clientCapabilities`;
export const META_CLIENT = `${PREFIX}clientInfo`;

/** 2025-11-25: what is about a task, in both directions, says about which. */
const META_TASK = `${PREFIX}related-task`;

/** What every request, answer and notification about the same task must have. */
export interface AboutTask {
  _meta?: JsonObject;
}

/** @param meta of a request that may be about a task */
export function aboutTask(meta: JsonObject): AboutTask {
  const task = own(meta, META_TASK);
  return isObject(task) ? { _meta: { [META_TASK]: task } } : {};
}

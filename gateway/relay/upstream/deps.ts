import type { CommonDeps } from '../common-deps.js';
import type { UnknownMethods } from './unknown-methods.js';

/** The dependencies of the upstream room. */
export interface UpstreamDeps extends CommonDeps {
  unknownMethods: UnknownMethods;
}

import type { CommonDeps } from '../common-deps.js';
import type { RemoteMethods } from './unknown-methods.js';

/** The dependencies of the upstream room. */
export interface UpstreamDeps extends CommonDeps {
  remoteMethods: RemoteMethods;
}

import type { CommonDeps } from '../common-deps.js';
import type { RemoteMethods } from './unknown-methods.js';

/** What the upstream room works with. */
export interface UpstreamDeps extends CommonDeps {
  remoteMethods: RemoteMethods;
}

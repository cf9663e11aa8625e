import type { AskingDeps } from '../../relay/asking/deps.js';
import type { CommonDeps } from '../../relay/common-deps.js';
import { offerOf } from '../../relay/local/upload-steps.js';
import { deliverUpload } from '../../relay/upstream/deliver-upload.js';
import type { ServerParts } from './shared-parts.js';

/** How a person is asked for a file that a call lacks, or that the server asks for. */
export function askingDeps(common: CommonDeps, { parts }: ServerParts): AskingDeps {
  const { server, accepts, dialects, limits, timeouts, clock, log, metrics } = common;
  const { order, rounds } = parts.config.elicitation;
  const { held, uploads, library, questions, sessions, putOff, flow, waiting, seal, isDraining } = parts;
  const delivery = { ...common, library };
  return {
    ...{ server, accepts, dialects, limits, timeouts, clock, log, metrics },
    ...{ order, rounds },
    ...{ held, uploads, library, questions, sessions, putOff, flow, waiting, seal, isDraining },
    deliver: (one, signal) => deliverUpload(one, delivery, signal),
    steps: (offered, then) => offerOf(offered, undefined, then).steps,
  };
}

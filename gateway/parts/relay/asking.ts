import type { AskingDeps } from '../../relay/asking/deps.js';
import type { CommonDeps } from '../../relay/common-deps.js';
import { offerOf } from '../../relay/local/upload-steps.js';
import { deliverUpload } from '../../relay/upstream/deliver-upload.js';
import type { UnknownMethods } from '../../relay/upstream/unknown-methods.js';
import { uploadForForm } from '../../relay/upstream/upload-for-form.js';
import type { ServerParts } from './shared-parts.js';

/** How a person is asked for a file that a call lacks, or that the server asks for. */
export function askingDeps(common: CommonDeps, unknownMethods: UnknownMethods, { parts }: ServerParts): AskingDeps {
  const { server, accepts, dialects, limits, toolLimits, timeouts, clock, log, fewLines, metrics, audit } = common;
  const { order, rounds } = parts.config.elicitation;
  const { held, uploadLinks, uploads, library, questions, sessions, putOff, flow, waiting, seal, isDraining } = parts;
  const { taskQuestions, taskTools } = parts;
  const delivery = { ...common, library };
  const upload = { ...delivery, unknownMethods };
  return {
    ...{ server, accepts, dialects, limits, toolLimits, timeouts, clock, log, fewLines, metrics, audit },
    ...{ order, rounds, isScanned: parts.ingest.antivirus !== undefined },
    ...{
      held,
      uploadLinks,
      uploads,
      library,
      questions,
      sessions,
      putOff,
      flow,
      waiting,
      seal,
      isDraining,
      taskQuestions,
      taskTools,
    },
    deliver: (one, signal) => deliverUpload(one, delivery, signal),
    upload: (one, signal) => uploadForForm(one, upload, signal),
    steps: (offered, then) => offerOf(offered, undefined, then).steps,
  };
}

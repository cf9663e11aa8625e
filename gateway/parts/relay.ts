import type { ServerConfig } from '../config/config.js';
import type { RelayDeps } from '../relay/deps.js';
import { LocalMethods } from '../relay/local/local-methods.js';
import { OwnResources } from '../relay/local/own-resources.js';
import { UnknownMethods } from '../relay/upstream/unknown-methods.js';
import { argumentDeps } from './relay/arguments.js';
import { askingDeps } from './relay/asking.js';
import { commonDeps } from './relay/common.js';
import type { SharedParts } from './relay/shared-parts.js';
import { toolDeps } from './relay/tools.js';

/** Everything that exchanges with one server need. @param limits of the exchanges */
export function relayDeps(server: ServerConfig, parts: SharedParts, limits = server.limits): RelayDeps {
  const { library, uploadLinks, dialects, previews, audit, checkTool, isAccepted } = parts;
  const { name } = server;
  const one = { server, parts, limits };
  const common = commonDeps(one);
  const unknownMethods = new UnknownMethods();
  return {
    ...common,
    ...toolDeps(common, one),
    ...argumentDeps(common, one),
    asking: askingDeps(common, unknownMethods, one),
    files: { library, previewOf: previews.of, audit },
    taskTools: parts.taskTools,
    unknownMethods,
    methods: new LocalMethods({ dialects, library, uploadLinks, server: name, fileLimit: limits.file }),
    resources: new OwnResources({ library, previewOf: previews.of, limits }),
    checkTool: checkTool && ((identity, tool) => checkTool(identity, name, tool)),
    isAccepted,
  };
}

import type { Identity } from '../ports/identity.js';
import type { AskingDeps } from './asking/deps.js';
import type { ChannelDeps } from './channels/deps.js';
import type { LocalMethods } from './local/local-methods.js';
import type { LocalTools } from './local/local-tools.js';
import type { OwnResources } from './local/own-resources.js';

/** What every exchange with one server needs. Only this room, and the place that composes it, sees all of it. */
export interface RelayDeps extends ChannelDeps {
  asking: AskingDeps;
  methods: LocalMethods;
  resources: OwnResources;
  tools: LocalTools;
  /** Refuses a call of a tool for which the caller lacks an OAuth scope. @throws GatewayError `insufficient_scope` */
  checkTool: ((identity: Identity, tool: string) => void) | undefined;
  /** Whether the server has let a caller in; absent where Wharf itself does. */
  isAccepted: ((identity: Identity) => boolean) | undefined;
}

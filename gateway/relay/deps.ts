import type { ChannelDeps } from './channels/deps.js';
import type { LocalMethods } from './local/local-methods.js';
import type { LocalTools } from './local/local-tools.js';
import type { OwnResources } from './local/own-resources.js';

/** What every exchange with one server works with: all of it is seen here only, and where it is put together. */
export interface RelayDeps extends ChannelDeps {
  methods: LocalMethods;
  resources: OwnResources;
  tools: LocalTools;
}

import type { Config } from '../config/config.js';
import type { LoginDocuments } from '../identity/resource.js';
import type { Authenticate } from '../ports/identity.js';
import type { CallerChecks, OpenWaysIn } from './ways-in.js';

/** Ways in that take tokens: of these a reload may make one of the other. */
const WITH_TOKENS: ReadonlySet<Config['auth']['use']> = new Set(['jwt', 'both']);

/** True when callers can be let in by other settings without a restart. */
export function mayBeReplaced(before: Config['auth'], after: Config['auth']): boolean {
  if (before.use === 'apiKeys') return after.use === 'apiKeys';
  return WITH_TOKENS.has(before.use) && WITH_TOKENS.has(after.use);
}

/**
 * The ways in of now. What asks them lives as long as the process or as a server, and a reload replaces them all in one
 * step: a token is judged by the issuers, audiences and scopes of one config, never of two.
 */
export class PresentWays {
  #now: OpenWaysIn;
  /** Documents for clients, where they log in at an authorization server. */
  readonly resources: LoginDocuments | undefined;
  readonly checks: CallerChecks;

  constructor(first: OpenWaysIn, { use }: Config['auth']) {
    this.#now = first;
    const { resources, checks } = first;
    this.resources = resources && { paths: resources.paths, document: (path) => this.#now.resources?.document(path) };
    this.checks = WITH_TOKENS.has(use)
      ? { ...checks, checkTool: (identity, server, tool) => this.#now.checks.checkTool?.(identity, server, tool) }
      : checks;
  }

  get now(): OpenWaysIn {
    return this.#now;
  }

  readonly authenticate: Authenticate = (request, server) => this.#now.authenticate(request, server);

  put(next: OpenWaysIn): void {
    this.#now = next;
  }
}

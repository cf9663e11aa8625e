import { SCOPES_RULE } from '../audit/caller-logins.js';
import type { ClientMessages } from '../mcp/request.js';
import type { RelayDeps } from './deps.js';
import { type Exchange, noteCall } from './exchange.js';

/**
 * The server does not see a byte of a call for which its caller must get further rights first.
 * @throws GatewayError `insufficient_scope`
 */
export function checkScopes(
  { checkTool, offered }: Pick<RelayDeps, 'checkTool' | 'offered'>,
  { identity, facts }: Exchange,
  { requests }: ClientMessages,
): void {
  if (!checkTool) return;
  for (const { method, subject } of requests) {
    if (method !== 'tools/call' || subject === undefined) continue;
    try {
      checkTool(identity, offered.ownName(subject) ?? subject);
    } catch (error) {
      noteCall(facts, subject);
      facts.rule = SCOPES_RULE;
      throw error;
    }
  }
}

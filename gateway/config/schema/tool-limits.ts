import { z } from 'zod';
import { CALL_AMOUNTS, TOOL_MESSAGE_LIMITS } from '../../policy/tool-limits.js';
import { count } from './fields.js';
import { acceptFields, messageLimitFields } from './limits.js';

const MOST_COUNT = 1_000_000_000;

const TEXTS: Readonly<Record<(typeof CALL_AMOUNTS)[number], string>> = {
  exchanges: 'Calls of this tool that one caller has under way at one time, on each replica.',
  requestsPerMinute:
    'Calls of this tool by one caller within a minute, over all replicas. Each call then asks the state store.',
};

/** `servers.X.tools.Y.limits` */
export function toolLimitsSchema() {
  const amounts = CALL_AMOUNTS.map((name) => [
    name,
    count({ min: 1, max: MOST_COUNT })
      .optional()
      .describe(`${TEXTS[name]} With \`*\` in the tool's name, the calls of all tools that it means count together.`),
  ]);
  const fields = messageLimitFields(TOOL_MESSAGE_LIMITS, "the server's own");
  return z.strictObject({ ...fields, ...Object.fromEntries(amounts), ...acceptFields() });
}

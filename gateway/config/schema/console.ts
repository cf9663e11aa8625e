import { z } from 'zod';
import { keyHash } from './auth.js';
import { ownerName } from './fields.js';

/** `console:`: who may look at the operator's pages. */
export function consoleSchema() {
  const user = z
    .strictObject({
      name: ownerName().describe('Name of the user, as the pages show it.'),
      hash: keyHash(),
      role: z
        .enum(['viewer', 'operator'])
        .default('viewer')
        .describe('`viewer` looks; `operator` may also end sessions, try tools, and revoke, hold or remove files.'),
    })
    .transform(({ name, hash, role }) => ({ name, digest: hash, role }));
  return z.strictObject({
    users: z
      .array(user)
      .max(100)
      .default([])
      .describe(
        'Users of the console, each with a key of their own. Without one the pages are empty; health and metrics never ' +
          'ask for a key.',
      ),
  });
}

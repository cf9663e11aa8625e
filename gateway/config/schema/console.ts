import { z } from 'zod';
import { keyHash } from './auth.js';

/** `console:`: who may look at the operator's pages. */
export function consoleSchema() {
  const user = z
    .strictObject({
      name: z
        .string()
        .regex(/^[A-Za-z0-9._-]{1,64}$/, { error: 'must be 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-"' })
        .describe('Name of the user, as the pages show it.'),
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

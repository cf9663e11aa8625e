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
  /** One whose hash is wrong, which has been reported, has no digest. */
  type User = Pick<z.output<typeof user>, 'name' | 'role'> & { digest?: Buffer };
  /** Whose key it is, and what that may do, must not depend on the order. */
  const faultOf = ({ name, digest, role }: User, before: readonly User[]) => {
    const other = digest && before.find((one) => one.name !== name && one.digest?.equals(digest));
    if (other)
      return { member: 'hash', message: `is also the hash of the key of "${other.name}"; a key is one user's` };
    const same = before.find((one) => one.name === name && one.role !== role);
    return same && { member: 'role', message: `must be that of the other key of "${name}": both belong to one user` };
  };
  return z.strictObject({
    users: z
      .array(user)
      .max(100)
      .superRefine((users, context) => {
        for (const [index, one] of users.entries()) {
          const fault = faultOf(one, users.slice(0, index));
          if (fault) context.addIssue({ code: 'custom', path: [index, fault.member], message: fault.message });
        }
      })
      .default([])
      .describe(
        'Users of the console, each with a key of their own; they need `adminListen`. Without one the pages are empty; ' +
          'health and metrics never ask for a key.',
      ),
  });
}

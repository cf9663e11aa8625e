import { StateKeys } from '../secrets/state-keys.js';

/** A token for Wharf's `CHECK_PATH`, which shows that its maker knows the secret; undefined without one. */
export function checkToken(secrets: readonly string[]): string | undefined {
  if (secrets.length === 0) return undefined;
  const time = String(Date.now());
  return `${time}.${new StateKeys(secrets).seals('check', time)[0]?.toString('base64url')}`;
}

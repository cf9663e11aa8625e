/**
 * Keys that hosts write besides those that start a server. They configure the host itself (what it asks the user, how
 * long it waits, what it shows), so Wharf ignores them.
 */
export const HOST_KEYS = [
  'autoApprove',
  'alwaysAllow',
  'description',
  'disabledTools',
  'icon',
  'metadata',
  'name',
  'timeout',
  'trust',
];
/** Keys that exist only in a host's file. */
export const OWN_KEYS = ['args', 'type', 'disabled'];

/** A user of the operator's pages on the admin port. */
export interface ConsoleUser {
  name: string;
  /** SHA-256 of the user's key, 32 bytes. */
  digest: Buffer;
  role: ConsoleRole;
}

/** Each may also do what those before it may. */
type ConsoleRole = 'viewer' | 'operator';

/** Where a setting that is not a default was written. */
export type SettingSource = 'file' | 'environment' | 'command line';

/** A setting in force. */
export interface Setting {
  /** As CONFIG.md writes it: `limits.file`. */
  path: string;
  /** In the config's spelling, without secrets. */
  value: string;
  source: SettingSource | 'default';
}

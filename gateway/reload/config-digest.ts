import { createHash } from 'node:crypto';
import type { Config } from '../config/config.js';
import { holdsSecrets, isSecretName, redactText } from '../redact.js';

/** SHA-256 of what a config says, without its secrets, so that an audit log shows which one was in force. */
export function digestOfConfig({ secrets, ...config }: Config): string {
  const said = { ...config, secrets: secrets.length, ...NOT_SAID };
  return createHash('sha256').update(JSON.stringify(said, withoutSecrets)).digest('base64url');
}

/** Members that the config does not say: the same config has the same digest in every environment. */
const NOT_SAID = { sources: undefined, warnings: undefined, inheritedEnv: undefined, withheldEnv: undefined };

function withoutSecrets(name: string, value: unknown): unknown {
  if (holdsSecrets(name, value)) return Object.keys(value);
  // rules that name other callers are other rules
  if (typeof value !== 'string' || name === 'principal') return value;
  return isSecretName(name) ? '' : redactText(value);
}

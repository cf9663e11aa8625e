import { createHash } from 'node:crypto';
import type { Config } from '../config/config.js';
import { holdsSecrets, isSecretName, redactText } from '../redact.js';

/** SHA-256 of what a config says, without its secrets, so that an audit log shows which one was in force. */
export function digestOfConfig({ secrets, sources: _, warnings: __, inheritedEnv: ___, ...said }: Config): string {
  const text = JSON.stringify({ ...said, secrets: secrets.length }, withoutSecrets);
  return createHash('sha256').update(text).digest('base64url');
}

function withoutSecrets(name: string, value: unknown): unknown {
  if (holdsSecrets(name, value)) return Object.keys(value);
  // rules that name other callers are other rules
  if (typeof value !== 'string' || name === 'principal') return value;
  return isSecretName(name) ? '' : redactText(value);
}

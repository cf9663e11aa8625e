import type { Audit, AuditCause } from '../../ports/audit.js';
import type { FileRecord } from '../file.js';

/** Why a file of a server is kept, beside what its record says. */
export interface FileCause {
  /** The tool, prompt, resource or method that returned it. */
  subject?: string;
  /** Who has made the call, beside the principal. */
  by?: AuditCause | undefined;
  /** Nothing names it, and what it answers is not known: an equal file of whatever name may be the same. */
  isNameless?: boolean;
}

/**
 * Writes into the audit log that a server's file is kept, before its caller learns of it.
 * @param about a file without `server` is the caller's own, which has an entry as its upload
 * @throws GatewayError `audit_unavailable`
 */
export async function recordFile(
  audit: Pick<Audit, 'isOn' | 'record'>,
  { principal, server, tool, mimeType }: Pick<FileRecord, 'principal' | 'server' | 'tool' | 'mimeType'>,
  { digest, size }: Pick<FileRecord, 'digest' | 'size'>,
  { subject, by }: FileCause,
): Promise<void> {
  if (server === undefined || !audit.isOn) return;
  const about = { principal, server, tool, from: server, subject, ...by };
  await audit.record({ what: 'file', ...about, files: [{ digest, size, mimeType }], allowed: true });
}

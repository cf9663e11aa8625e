import { createHash } from 'node:crypto';
import type { Audit, AuditFile } from '../../ports/audit.js';
import { noteStream } from '../audit-exchange.js';
import type { ByteWatch } from '../client/byte-answer.js';
import type { Exchange } from '../exchange.js';
import type { StreamItem } from './item.js';

/** What an audit log must know of a stream before its bytes. */
interface StreamAbout {
  server: string;
  uri: string;
  /** By which they were asked for. */
  method: string;
  item: Pick<StreamItem, 'mimeType' | 'digest' | 'record'>;
}

/** Watches the bytes of a stream for the audit log: a download, of which a line is written when it is over. */
export function auditedBytes(audit: Audit, exchange: Exchange, about: StreamAbout): ByteWatch | undefined {
  if (!audit.isOn) return undefined;
  const { server, uri, method, item } = about;
  const { record, mimeType } = item;
  // bytes that are not stored have no digest yet
  const hash = item.digest === undefined ? createHash('sha256') : undefined;
  return {
    take: hash && ((bytes) => void hash.update(bytes)),
    over: (outcome, size) => {
      const digest = outcome === 'whole' ? (item.digest ?? hash?.digest('base64url')) : undefined;
      const file: AuditFile = { id: record?.id, digest, size, mimeType };
      const from = record ? record.server : server;
      noteStream(audit, exchange, { server, from, method, uri, file, outcome });
    },
  };
}

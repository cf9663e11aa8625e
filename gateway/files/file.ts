import { keptIn, type Shape } from '../errors/kept.js';
import type { Owner } from '../ports/owner.js';

/** A stored file as the state store keeps it, as JSON under `recordKey`. */
export interface FileRecord {
  /** `f_` and 128 random bits as base64url. Object keys begin with it, see handle.ts. */
  id: string;
  /** The owner. Under `auth: none` every caller is `anonymous`. */
  principal: string;
  /** Config name of the server it came from; absent if it is the caller's own. */
  server?: string;
  /** Name of that server's tool whose result it was in; absent of other results, and of files stored before it was kept. */
  tool?: string;
  /** For a caller's own file: it was not uploaded, but came inside a call or from an address in one. */
  fromCall?: true;
  name: string;
  mimeType: string;
  /** For a text: its first bytes are not UTF-8, and browsers guess what they are. */
  notUtf8?: true;
  /** URI of the resource whose content it is, if it was requested by that URI. */
  resource?: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of the bytes, base64url without padding. */
  digest: string;
  /** Key in the object store. */
  key: string;
  /** The object's mark when it was stored, if its store tells marks (`ObjectStat`); absent of files stored before they were kept. */
  mark?: string;
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  /** Since when its bytes count for its owner, if that is another time: an upload in several requests takes long. */
  countedAt?: number;
  /**
   * What the antivirus said: `clean`, or `passed` for a file that it could not scan and the operator lets through.
   * Absent: no antivirus was configured when it was stored.
   */
  scan?: 'clean' | 'passed';
  /** Which of the resumable uploads of its link it was; absent of a file that came in another way. */
  upload?: string;
  /** What the client of that upload has declared, which it may ask for again. */
  metadata?: string;
  /** When an operator revoked it: it exists for none but operators. */
  revokedAt?: number;
  /** Since when it is held: it is neither swept nor removed. */
  heldAt?: number;
  /** Set when the same bytes came again and became this file, so several messages may name it. */
  shared?: true;
}

const FILE_RECORD: Shape<FileRecord> = {
  id: 'text',
  principal: 'text',
  server: 'text?',
  tool: 'text?',
  fromCall: 'true?',
  name: 'text',
  mimeType: 'text',
  notUtf8: 'true?',
  resource: 'text?',
  size: 'number',
  digest: 'text',
  key: 'text',
  mark: 'text?',
  createdAt: 'number',
  countedAt: 'number?',
  scan: 'text?',
  upload: 'text?',
  metadata: 'text?',
  revokedAt: 'number?',
  heldAt: 'number?',
  shared: 'true?',
};

/** What is known of a file's bytes when they become one: all but what its record adds. */
export type NewFile = Pick<
  FileRecord,
  'principal' | 'server' | 'tool' | 'fromCall' | 'name' | 'mimeType' | 'notUtf8' | 'resource'
>;

/** An object, with how many bytes it was stored, and what else is known of them. */
export type StoredObject = Pick<FileRecord, 'key' | 'size'> & Partial<Pick<FileRecord, 'digest' | 'mark'>>;

/** An object, and whom it counts for while it is read, as far as that is known. */
export type OwnedObject = StoredObject & Owner;

/** The key of a file's record in the state store. */
export function recordKey(id: string): string {
  return `file:${id}`;
}

/**
 * What replaces a record that is taken back or removed, until it expires at once: the store cannot remove a key on the
 * condition that it is unchanged.
 */
export const NO_RECORD = 'null';

/** The record in a text of the state store, if it holds one. @throws GatewayError `state_unavailable` */
export function recordIn(text: string | undefined): FileRecord | undefined {
  if (text === undefined || text === NO_RECORD) return undefined;
  return keptIn(text, FILE_RECORD);
}

/** The public facts about a stored file, and its handle. */
export interface DescribedFile {
  uri: string;
  name: string;
  mimeType: string;
  size: number;
  /** SHA-256, base64url without padding. */
  digest: string;
}

/** The owner that the state store counts a file's keys for. */
export function ownerOf({ principal, server }: Pick<FileRecord, 'principal' | 'server'>) {
  return { principal, server };
}

/** The part of a record by which its bytes are counted for their owner. */
export type CountedFile = Pick<FileRecord, 'principal' | 'size' | 'createdAt' | 'countedAt'> &
  Partial<Pick<FileRecord, 'key'>>;

/** What each owner may store, and what becomes of files that were counted. */
export interface FileAccount {
  /** Whether a caller may upload a file of a size. @throws GatewayError `upload_too_large` */
  fits(principal: string, size: number): Promise<void>;
  /** Whether a file of a size can ever be a caller's, whatever it has stored. @throws GatewayError `upload_too_large` */
  canFit(principal: string, size: number): Promise<void>;
  /** Whether a caller may upload files of a type. @throws GatewayError `upload_type_refused` */
  admits(principal: string, mimeType: string): Promise<void>;
  /** A file is used, and lives longer. Does not fail. */
  used(id: string): Promise<void>;
  /**
   * A stored file is about to get its record.
   * @throws GatewayError `storage_full`: it has waited so long that others have its room; or the state store's error
   */
  holds(file: FileRecord): Promise<void>;
  /** A file has its record: it counts as long as it lives. Does not fail. */
  recorded(file: FileRecord): Promise<void>;
  /** The state store has not said whether a file has its record: it counts if it has. */
  unsure(file: FileRecord): void;
  /** A stored file will have no record. Does not fail. */
  unrecorded(file: Pick<FileRecord, 'key' | 'principal'>): Promise<void>;
  /** A file, or what is kept of an upload in several requests, is gone before its time. Does not fail. */
  released(file: CountedFile): Promise<void>;
  /** A stored file has turned out to be one that its caller has already, so that it is not another one. Does not fail. */
  collapsed(file: FileRecord): Promise<void>;
}

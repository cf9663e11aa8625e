import { createHash } from 'node:crypto';
import { GatewayError } from '../../errors.js';
import type { Scans } from '../../files/antivirus/scans.js';
import type { FileSource } from '../../files/encode/index.js';
import type { FileRecord } from '../../files/file.js';
import type { Flow } from '../../files/flow/flow.js';
import type { Library, Resolved } from '../../files/library.js';
import { fitsAccept, ruleAgainst } from '../../files/names/accepted-type.js';
import { cleanFileName } from '../../files/names/file-name.js';
import { extensionOf, mediaTypeOf, SNIFF_BYTES, sniff } from '../../files/names/media-type.js';
import type { RecentUses } from '../../files/retention/recent-uses.js';
import { SHORT_BYTES, type ShortFiles } from '../../files/stored/short-files.js';
import type { AcceptRule } from '../../policy/message-limits.js';
import type { Audit, AuditCause } from '../../ports/audit.js';
import type { ArgumentReading } from '../../ports/dialect.js';
import type { FileClaims } from '../../ports/file.js';
import type { TransferMode } from '../../ports/file-slot.js';
import type { Identity } from '../../ports/identity.js';
import type { CallOwner } from '../../ports/owner.js';
import { decodeTolerantBase64 } from '../../wire/base64/decode-text.js';
import { readDataUri } from '../../wire/data-uri.js';
import { faultOfDataUri } from '../../wire/data-uri-fault.js';
import { denied, type KeptBack, keptBack } from './kept-back.js';
import { notThere, refused, type SlotRules, tooLarge, tooLargeInside, uploadInstead } from './refused-file.js';

/** A file on its way to a server. */
export interface IncomingFile extends FileSource {
  /** True when it has a name of its own; otherwise none is invented. */
  hasName: boolean;
  via: TransferMode;
  readonly digest: string;
  /** Its origin, as far as known: a file inside a call may come from anywhere. */
  origin: 'uploaded' | 'handoff' | 'unknown';
  /** Present once it is stored. */
  record?: FileRecord;
}

/** An address from which a file may be fetched. */
export interface RemoteAddress {
  url: string;
  claims: FileClaims;
  /** The most bytes, and the name of what limits them. */
  maxSize: { bytes: number; limit: string };
}

export interface IncomingFileDeps {
  library: Library;
  shortFiles: ShortFiles;
  uses: Pick<RecentUses, 'use'>;
  /** Fetches an address that a client's host vouched for, and stores the file. */
  fetch: (remote: RemoteAddress, owner: CallParties, signal: AbortSignal) => Promise<FileRecord>;
  /** Absent: every file may go to every server. */
  flow: Flow | undefined;
  /** Absent: files are not scanned. */
  antivirus: Scans | undefined;
  audit: Audit;
  /** Media types that the config allows; absent: every type. */
  accept: readonly AcceptRule[] | undefined;
}

/** The caller, and the server that gets its files. */
interface CallParties extends CallOwner {
  who: Identity;
  by: AuditCause;
}

const EXPIRED_LINK =
  'is a link that has expired; pass the handle of its file (mcp-file://…), or run the tool that gave it again';

/** Turns the values that clients put into file slots into files, and refuses invalid ones. */
export class IncomingFiles {
  readonly #deps: IncomingFileDeps;
  readonly #owner: CallParties;
  readonly #signal: AbortSignal;

  constructor(deps: IncomingFileDeps, owner: CallParties, signal: AbortSignal) {
    this.#deps = deps;
    this.#owner = owner;
    this.#signal = signal;
  }

  /** @throws GatewayError `file_refused`, and the stores' errors */
  async open(reading: ArgumentReading, rules: SlotRules): Promise<IncomingFile> {
    const file = await this.#read(reading, rules);
    const { slot, maxSize } = rules;
    if (slot.transferModes && !slot.transferModes.includes(file.via)) {
      const how = file.via === 'inline' ? 'inside the call' : 'by a handle';
      throw refused(
        rules,
        'transferModeNotAllowed',
        `takes no file ${how}; it takes: ${slot.transferModes.join(', ')}`,
        file.via === 'inline' ? uploadInstead(rules) : {},
      );
    }
    if (file.size > maxSize.bytes) {
      throw tooLarge(rules, file.size);
    }
    if (!fitsAccept(slot.accept, file)) {
      const accept = slot.accept ?? [];
      throw refused(rules, 'mimeTypeNotAccepted', `is ${file.mimeType}; accepted are: ${accept.join(', ')}`, {
        accept,
        actualType: file.mimeType,
        limit: 'accept of the argument',
      });
    }
    this.#checkType(file, rules);
    const { flow, audit } = this.#deps;
    if (flow) await this.#judge(file, rules, flow);
    // a server gets a file only if that is recorded
    if (audit.isOn) await this.#record(file, rules);
    return file;
  }

  /** The types that the config allows. The tool may take fewer. */
  #checkType(file: IncomingFile, rules: SlotRules): void {
    const against = ruleAgainst(this.#deps.accept, file);
    if (!against) return;
    const { types, source } = against;
    throw refused(rules, 'mimeTypeNotAccepted', `is ${file.mimeType}; you may send: ${types.join(', ')}`, {
      accept: types,
      actualType: file.mimeType,
      limit: 'limits.accept',
      source,
    });
  }

  async #record(file: IncomingFile, { tool }: SlotRules): Promise<void> {
    const { audit } = this.#deps;
    const { principal, server, by } = this.#owner;
    const { digest, size, mimeType, record } = file;
    const files = [record ?? { digest, size, mimeType }];
    const from = record?.server;
    await audit.record({ what: 'handoff', principal, ...by, server, tool, from, to: server, files, allowed: true });
  }

  async #read(reading: ArgumentReading, rules: SlotRules): Promise<IncomingFile> {
    switch (reading.kind) {
      case 'handle':
        return this.#stored(await this.#resolve(reading.uri, rules), rules);
      case 'link':
        return this.#linked(reading.url, rules);
      case 'remote':
        return this.#remote(reading, rules);
      case 'dataUri': {
        const decoded = readDataUri(reading.text);
        if (typeof decoded === 'string') {
          const form = 'is not a valid data: URI, which has the form data:<type>;base64,<base64>';
          const why = faultOfDataUri(reading.text);
          throw refused(rules, 'malformedUri', `${form}: ${why} (${reading.text.length} characters)`);
        }
        const { mimeType, charset } = decoded;
        const name = reading.claims.name ?? decoded.name;
        const file = await this.#inline(decoded.bytes, { mimeType, ...(name && { name }) }, rules);
        // it says nothing of bytes that are plainly of another type
        return file.mimeType === mimeType && charset !== undefined ? Object.assign(file, { charset }) : file;
      }
      case 'base64': {
        const bytes = decodeTolerantBase64(reading.text);
        if (!bytes) {
          const text = `is neither a file handle, nor a data: URI, nor base64 (${reading.text.length} characters)`;
          throw refused(rules, 'malformedUri', text);
        }
        return this.#inline(bytes, reading.claims, rules);
      }
      case 'text':
        return this.#inline(Buffer.from(reading.text), { mimeType: 'text/plain', ...reading.claims }, rules);
      case 'invalid':
        throw refused(rules, reading.reason, reading.text);
    }
  }

  async #resolve(uri: string, rules: SlotRules): Promise<FileRecord> {
    return this.#recordOf(await this.#deps.library.resolve(uri, this.#owner.principal), rules);
  }

  async #recordOf(found: Resolved, rules: SlotRules): Promise<FileRecord> {
    switch (found.kind) {
      case 'ready':
        return found.record;
      case 'lazy': {
        this.#allow(found.server, rules);
        return this.#readLazy(found, rules);
      }
      default:
        throw notThere(found.kind, rules);
    }
  }

  /** A file that a server has only named: if it cannot be read now, the call cannot be made. */
  async #readLazy({ server, read }: Resolved & { kind: 'lazy' }, rules: SlotRules): Promise<FileRecord> {
    try {
      return await read(this.#signal);
    } catch (thrown) {
      this.#signal.throwIfAborted();
      if (!(thrown instanceof GatewayError)) throw thrown;
      const text = `could not be read from the server "${server}": ${thrown.message} Run the tool that gave it again`;
      throw refused(rules, 'unreachable', text, { cause: thrown });
    }
  }

  #allow(from: string | undefined, rules: SlotRules): void {
    const rule = this.#deps.flow?.before(from, this.#owner.server, this.#owner.who);
    if (rule) throw this.#kept(denied(from ? [from] : [], this.#owner.server, rule), undefined, rules);
  }

  /** @throws GatewayError `file_refused` when a rule keeps these bytes from the server */
  async #judge(file: IncomingFile, rules: SlotRules, flow: Flow): Promise<void> {
    const { server: to, who } = this.#owner;
    const kept = await keptBack(flow, { who, from: file.record?.server, to, file }, rules.tool);
    if (kept) throw this.#kept(kept, file, rules);
  }

  #kept({ text, origins, ...facts }: KeptBack, file: IncomingFile | undefined, rules: SlotRules): GatewayError {
    const { principal, server, by } = this.#owner;
    const { tool } = rules;
    const files = file && [file.record ?? file];
    const about = { what: 'handoff', principal, ...by, server, tool, from: origins[0], to: server } as const;
    this.#deps.audit.note({ ...about, files, allowed: false, rule: facts.rule, code: 'file_refused' });
    return refused(rules, 'handoffDenied', text, facts);
  }

  async #linked(url: string, rules: SlotRules): Promise<IncomingFile> {
    const { library } = this.#deps;
    const link = await library.readLink(url, this.#owner.principal);
    if (link?.kind === 'expired') throw refused(rules, 'fileExpired', EXPIRED_LINK);
    const found = link?.kind === 'ok' ? await library.resolve(link.handle, this.#owner.principal) : undefined;
    // Same error for a foreign link and an unknown address: existence must not leak.
    if (!found || found.kind === 'unknown') {
      const text =
        'is not a link to a file of yours, and other addresses are not followed; upload the file and pass its handle';
      throw refused(rules, 'schemeNotAllowed', text);
    }
    return this.#stored(await this.#recordOf(found, rules), rules);
  }

  async #remote({ url, claims }: ArgumentReading & { kind: 'remote' }, rules: SlotRules): Promise<IncomingFile> {
    // a link that was given out comes back as an address
    const uri = await this.#deps.library.handleOfLink(url, this.#owner.principal);
    if (uri !== undefined) return this.#stored(await this.#resolve(uri, rules), rules);
    try {
      const record = await this.#deps.fetch({ url, claims, maxSize: rules.maxSize }, this.#owner, this.#signal);
      return await this.#stored(record, rules);
    } catch (thrown) {
      this.#signal.throwIfAborted();
      if (!(thrown instanceof GatewayError)) throw thrown;
      const { code, message, facts } = thrown;
      if (code === 'fetch_too_large') {
        throw tooLarge(rules, Number(facts.actual), thrown);
      }
      if (!code.startsWith('fetch_')) throw thrown;
      throw refused(rules, 'unreachable', `could not be fetched: ${message} Attach the file again`, { cause: thrown });
    }
  }

  async #stored(record: FileRecord, rules: SlotRules): Promise<IncomingFile> {
    const { library, shortFiles, uses } = this.#deps;
    const extended = uses.use(record.id);
    if (extended) await extended;
    const looked = shortFiles.look(record);
    if (looked) await looked;
    const signal = this.#signal;
    let release: ((chunk: Buffer) => void) | undefined;
    const gone = (error: unknown): never => {
      throw error instanceof GatewayError && error.code === 'file_gone' ? noLongerStored(rules, error) : error;
    };
    return {
      name: record.name,
      hasName: true,
      mimeType: record.mimeType,
      size: record.size,
      via: 'upload',
      origin: originOf(record),
      digest: record.digest,
      record,
      async *read(range) {
        if (!range && record.size <= SHORT_BYTES) {
          const bytes = await shortFiles.read(record, signal).catch(gone);
          if (!bytes) throw noLongerStored(rules);
          if (bytes.length > 0) yield bytes;
          return;
        }
        const found = await library.read(record, signal, range).catch(gone);
        if (found.kind !== 'found') throw noLongerStored(rules);
        release = found.release;
        yield* found.body as AsyncIterable<Buffer>;
      },
      inMemory: () => shortFiles.kept(record),
      release: (chunk) => release?.(chunk),
    };
  }

  async #inline(bytes: Buffer, claims: FileClaims, rules: SlotRules): Promise<IncomingFile> {
    if (bytes.length > rules.maxInline) throw tooLargeInside(rules, bytes.length);
    const digest = () => createHash('sha256').update(bytes).digest('base64url');
    const { principal, server } = this.#owner;
    const scanned = {
      owner: { principal, server },
      path: `argument '${rules.argument}'`,
      signal: this.#signal,
      digest,
    };
    await this.#deps.antivirus?.scan(scanned, bytes.length, () => [bytes]);
    const sniffed = await sniff(bytes.subarray(0, SNIFF_BYTES));
    const mimeType = mediaTypeOf(claims.mimeType, sniffed);
    const name = claims.name === undefined ? undefined : cleanFileName(claims.name);
    return {
      // many servers choose by a path's ending how they read it
      name: name ?? `file.${extensionOf(claims.mimeType, sniffed)}`,
      hasName: name !== undefined,
      mimeType,
      size: bytes.length,
      via: 'inline',
      origin: 'unknown',
      get digest() {
        return digest();
      },
      async *read(range) {
        yield range ? bytes.subarray(range.start, range.end + 1) : bytes;
      },
      inMemory: () => (bytes.length <= SHORT_BYTES ? bytes : undefined),
    };
  }
}

function noLongerStored(rules: SlotRules, cause?: GatewayError): GatewayError {
  const text = 'is a handle whose file is no longer stored; run the tool that gave it again, or upload it again';
  return refused(rules, 'fileExpired', text, cause && { cause });
}

/** The origin of bytes inside a call is unknown: it is not even certain that a person chose them. */
function originOf({ server, fromCall }: FileRecord): IncomingFile['origin'] {
  if (server !== undefined) return 'handoff';
  return fromCall ? 'unknown' : 'uploaded';
}

import { GatewayError } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import type { FileAccount, FileRecord } from '../file.js';
import { newBundleId, newFileId } from '../handles/handle.js';
import type { Library } from '../library.js';
import type { Tickets, UploadTicket } from '../tickets/ticket.js';
import type { Proof, UploadCodes } from '../tickets/upload-code.js';
import {
  announcedType,
  checkIntent,
  keptIntent,
  largestUpload,
  type UploadBound,
  type UploadIntent,
} from '../tickets/upload-intent.js';
import { uploadDone, uploadExpired } from './uploaded.js';

interface UploadLinksDeps {
  library: Library;
  tickets: Tickets;
  codes: UploadCodes;
  clock: Pick<Clock, 'now'>;
  /** What callers may store. */
  account: Pick<FileAccount, 'canFit' | 'admits'>;
  settings: {
    /** How clients reach Wharf, without a trailing slash; known once the port is. */
    publicUrl: () => string;
    ttlMs: number;
    /** `limits.file` */
    fileLimit: () => number;
    /** Whether links for people are used together with a code. */
    asksCodes: boolean;
  };
}

/** The right to one upload: the handle of the future file, and the address for its bytes. */
export interface Authorization {
  id: string;
  uri: string;
  ticket: string;
  url: string;
  /** RFC 3339. */
  expiresAt: string;
  /** The code that is needed besides the link. It is kept nowhere else. */
  code?: string;
}

/** An upload that may begin. */
export interface Admission {
  fileId: string;
  intent: UploadIntent;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number;
  /** Most bytes that are accepted, and the name of the setting behind it. */
  largest: UploadBound;
}

/** What a ticket refers to, in any state. */
type FoundUpload = Admission & Omit<UploadTicket, keyof Admission> & { isStored: boolean; isLocked: boolean };

export type UploadState =
  | ({ kind: 'open' } & Admission)
  | { kind: 'done' }
  | { kind: 'expired' }
  | { kind: 'cancelled' }
  /** A wrong code was given too often. */
  | { kind: 'locked' }
  | { kind: 'unknown' };

/** Links for uploads: they are made and revoked, and say whether an upload may begin, and what it has brought. */
export class UploadLinks {
  readonly #deps: UploadLinksDeps;

  constructor(deps: UploadLinksDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a link for one upload, and the handle under which it will be found.
   * @throws GatewayError `upload_invalid`, `upload_too_large`, `upload_type_refused`, or the state store's error
   */
  async authorize(intent: UploadIntent): Promise<Authorization> {
    const { tickets, codes, clock, account, settings } = this.#deps;
    checkIntent(intent, settings.fileLimit());
    if (intent.size !== undefined) await account.canFit(intent.principal, intent.size);
    await this.#checkType(intent);
    const expiresAt = clock.now() + settings.ttlMs;
    const id = intent.several ? newBundleId() : newFileId();
    const made = settings.asksCodes && intent.isForPerson ? codes.make(id) : undefined;
    const [uri, ticket] = await Promise.all([
      this.#expect(id, intent, expiresAt),
      tickets.mintUpload(id, { ...keptIntent(intent), ...(made && { codeSeal: made.seal }) }, expiresAt),
    ]);
    const url = `${settings.publicUrl()}/u/${ticket}`;
    return { id, uri, ticket, url, expiresAt: new Date(expiresAt).toISOString(), ...(made && { code: made.code }) };
  }

  /** Where the caller's own limit keeps a type out, the error names that, and not the link that follows from it. */
  async #checkType(intent: UploadIntent): Promise<void> {
    const { accept: _, ...announced } = intent;
    const said = announcedType(announced);
    if (said === undefined) return;
    let [type, refused]: [string, unknown] = [said, undefined];
    try {
      type = announcedType(intent) ?? said;
    } catch (thrown) {
      refused = thrown;
    }
    await this.#deps.account.admits(intent.principal, type);
    if (refused) throw refused;
  }

  /** The handle of a future file, or of a future bundle of them. */
  #expect(id: string, { principal, purpose, several }: UploadIntent, until: number): Promise<string> {
    const { library } = this.#deps;
    return several
      ? library.bundles.begin(id, { principal, server: purpose?.server }, until)
      : library.expect(id, principal, until);
  }

  /** Ends a ticket early, because the file is no longer wanted. What has arrived of several files is removed. */
  async revoke(ticket: string): Promise<void> {
    const { tickets, library } = this.#deps;
    const found = await tickets.findUpload(ticket);
    await tickets.revokeUpload(ticket);
    if (!found) return;
    const { fileId, intent, expiresAt } = found;
    const { principal } = intent;
    if (!intent.several) return library.giveUp(fileId, principal, expiresAt);
    const { files = [] } = (await library.bundles.cancel(fileId)) ?? {};
    await library.leaveOut(files, principal, expiresAt);
  }

  /** What an upload has brought: a file, or all files of a complete bundle; undefined before. */
  async given(id: string): Promise<FileRecord[] | undefined> {
    const { library } = this.#deps;
    const record = await library.find(id);
    return record ? [record] : library.bundles.filesOf(id);
  }

  /** What has become of a link that a call waits for; undefined once it is forgotten. */
  link(ticket: string): Promise<Pick<UploadTicket, 'intent' | 'isOpened' | 'isRevoked'> | undefined> {
    return this.#deps.tickets.findUpload(ticket);
  }

  /** A user has opened the page of a link. */
  opened(ticket: string): Promise<void> {
    return this.#deps.tickets.noteOpened(ticket);
  }

  /** A link with all that is known of it: more reads of the state store than `link`. Undefined once it is forgotten. */
  async find(ticket: string): Promise<FoundUpload | undefined> {
    const { tickets, codes, settings } = this.#deps;
    const found = await tickets.findUpload(ticket);
    if (!found) return undefined;
    const { isStored, isRevoked } = await this.#fate(found);
    const isLocked = found.intent.codeSeal !== undefined && (await codes.isLocked(found.fileId));
    return { ...found, isStored, isRevoked, isLocked, largest: largestUpload(found.intent, settings.fileLimit()) };
  }

  /** A ticket for several files has the fate of their bundle, and so has the ticket of a file in it. */
  async #fate({ fileId, intent, isRevoked }: UploadTicket): Promise<{ isStored: boolean; isRevoked: boolean }> {
    const { library } = this.#deps;
    const bundleId = intent.several ? fileId : intent.bundle;
    const bundle = bundleId === undefined ? undefined : await library.bundles.find(bundleId);
    const isCancelled = isRevoked || bundle?.status === 'cancelled';
    if (intent.several) return { isStored: bundle?.status === 'complete', isRevoked: isCancelled };
    const isStored = await library.hasBeenStored(fileId);
    const isLeftOut = bundle !== undefined && (bundle.status !== 'open' || !bundle.files.includes(fileId));
    return { isStored, isRevoked: isCancelled || (!isStored && isLeftOut) };
  }

  /** The state of a ticket, without using it up. */
  async inspect(ticket: string): Promise<UploadState> {
    return stateOf(await this.find(ticket));
  }

  /**
   * Lets an upload begin; the page that may be waiting for its user then counts as opened.
   * @throws GatewayError `link_unknown`, `link_expired`, `upload_done`, `upload_cancelled`, `upload_locked`
   */
  async admit(ticket: string): Promise<Admission> {
    const found = await this.find(ticket);
    const state = stateOf(found);
    switch (state.kind) {
      case 'open':
        // a program, which needs no page, has the link
        await this.#deps.tickets.noteOpened(ticket, found?.written);
        return state;
      case 'done':
        throw uploadDone();
      case 'expired':
        throw uploadExpired();
      case 'cancelled':
        throw new GatewayError('upload_cancelled');
      case 'locked':
        throw new GatewayError('upload_locked');
      case 'unknown':
        throw new GatewayError('link_unknown', { reason: 'fileNotFound' });
    }
  }

  /** Whether a request must still give the link's code. */
  needsCode({ fileId, intent }: Admission, { pass }: Proof): boolean {
    if (intent.codeSeal === undefined) return false;
    return pass === undefined || !this.#deps.codes.isPass(fileId, pass);
  }

  /**
   * Lets a request go on that gives the link's code, if it has one, or has given it before.
   * @returns what a browser is given, so that its person need not give the code again
   * @throws GatewayError `upload_code_needed`, `upload_code_wrong`, `upload_locked`
   */
  async prove(admission: Admission, proof: Proof): Promise<string> {
    const { fileId, intent, expiresAt } = admission;
    const { codes } = this.#deps;
    const { codeSeal, principal, purpose } = intent;
    if (codeSeal !== undefined && this.needsCode(admission, proof)) {
      if (proof.code === undefined) throw new GatewayError('upload_code_needed');
      const owner = { principal, server: purpose?.server };
      await codes.check({ fileId, codeSeal, expiresAt, owner }, proof.code);
    }
    return codes.pass(fileId);
  }
}

function stateOf(found: FoundUpload | undefined): UploadState {
  if (!found) return { kind: 'unknown' };
  const { fileId, intent, expiresAt, largest } = found;
  if (found.isStored) return { kind: 'done' };
  if (found.isRevoked) return { kind: 'cancelled' };
  if (found.isLocked) return { kind: 'locked' };
  return found.isExpired ? { kind: 'expired' } : { kind: 'open', fileId, intent, expiresAt, largest };
}

import { randomBytes } from 'node:crypto';
import { keptIn, type Shape } from '../../errors/kept.js';
import { GatewayError } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import type { Owner } from '../../ports/owner.js';
import type { StateStore } from '../../ports/state-store.js';

/** Progress of an upload that may be interrupted, as the state store keeps it (JSON under `upload:<file id>`). */
export interface Progress {
  /** Distinguishes uploads begun one after the other with the same ticket. */
  id: string;
  /** The present writer, a new one with each request. A writer that is no longer named here may not write. */
  claim: string;
  /** Bytes of the file. */
  length: number;
  /** Bytes that are certainly stored. While the file has no record, this is less than `length`. */
  offset: number;
  /** The client's metadata about the file, unchanged. */
  metadata?: string;
  name?: string;
  mimeType?: string;
  /** Key of the future object, and the object store's place in it, once there are bytes. */
  key?: string;
  place?: string;
  /** All bytes are stored as the object, whose record could not be made, or not yet: nothing is to be sent again. */
  isStored?: true;
  /** Bytes that were read and stored again, because the store could not add to its last part. */
  moved?: number;
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  expiresAt: number;
}

const PROGRESS: Shape<Progress> = {
  id: 'text',
  claim: 'text',
  length: 'number',
  offset: 'number',
  metadata: 'text?',
  name: 'text?',
  mimeType: 'text?',
  key: 'text?',
  place: 'text?',
  isStored: 'true?',
  moved: 'number?',
  createdAt: 'number',
  expiresAt: 'number',
};

/** Progress as read or written: it may be replaced while it is unchanged in the store. */
export interface Noted {
  progress: Progress;
  text: string;
}

/** How long an ended upload is remembered, so that its client gets "expired" and not "unknown". */
const REMEMBERED_MS = 60 * 60 * 1000;

/**
 * Replaces a progress for a hundredth of a second, because the store cannot remove a key on the condition that it is
 * unchanged.
 */
const ENDED = 'null';

/** Attempts to be the one that begins, when several do so at once. */
const MOST_TRIES = 5;

/** The progress of running uploads, by the id of the future file, on every replica. */
export class ProgressNotes {
  readonly #state: StateStore;
  readonly #clock: Clock;

  constructor(state: StateStore, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  async find(fileId: string): Promise<Noted | undefined> {
    return readNoted(await this.#state.read(keyOf(fileId)));
  }

  /**
   * Records a new upload.
   * @returns the previous one with the same ticket, which this ends
   * @throws GatewayError `upload_taken_over` when others keep doing the same
   */
  async begin(fileId: string, progress: Progress, owner: Owner): Promise<{ noted: Noted; before: Noted | undefined }> {
    const text = JSON.stringify(progress);
    const key = keyOf(fileId);
    const ttlMs = this.#ttlOf(progress);
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      const before = await this.#state.read(key);
      const isNoted =
        before === undefined
          ? await this.#state.create(key, text, ttlMs, owner)
          : await this.#state.replace(key, before, text, ttlMs);
      if (isNoted) return { noted: { progress, text }, before: readNoted(before) };
    }
    throw takenOver();
  }

  /** @returns undefined when another writer has replaced or ended it first */
  async replace(fileId: string, noted: Noted, progress: Progress): Promise<Noted | undefined> {
    const text = JSON.stringify(progress);
    let isNoted: boolean;
    try {
      isNoted = await this.#state.replace(keyOf(fileId), noted.text, text, this.#ttlOf(progress));
    } catch (error) {
      // the step may have happened
      const found = await this.#state.read(keyOf(fileId)).catch(() => undefined);
      if (found !== text) throw error;
      isNoted = true;
    }
    return isNoted ? { progress, text } : undefined;
  }

  /** @returns true when it was still there, unchanged */
  end(fileId: string, noted: Noted): Promise<boolean> {
    return this.#state.replace(keyOf(fileId), noted.text, ENDED, 10);
  }

  #ttlOf({ expiresAt }: Progress): number {
    return Math.max(1, expiresAt - this.#clock.now()) + REMEMBERED_MS;
  }
}

function readNoted(text: string | undefined): Noted | undefined {
  return text === undefined || text === ENDED ? undefined : { progress: keptIn(text, PROGRESS), text };
}

/** The error for a request that another one has overtaken. */
export function takenOver(): GatewayError {
  return new GatewayError('upload_taken_over', { reason: 'uploadTakenOver' });
}

/** A name that is unique among its kind. */
export function newName(): string {
  return randomBytes(9).toString('base64url');
}

function keyOf(fileId: string): string {
  return `upload:${fileId}`;
}

/** True when the object is part of a running upload. */
export async function isUnderWay(state: Pick<StateStore, 'read'>, fileId: string, object: string): Promise<boolean> {
  const text = await state.read(keyOf(fileId));
  const key = readNoted(text)?.progress.key;
  return key !== undefined && (object === key || object.startsWith(`${key}-`));
}

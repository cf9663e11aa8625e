import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The newest first: it seals, and all open. */
export type Secrets = readonly [string | Buffer, ...(string | Buffer)[]];

interface Key {
  cipher: Buffer;
  nonce: Buffer;
}

/**
 * Encrypts texts that the state store keeps but never uses itself, such as an upstream's session id. A dump of the
 * store does not show them, and write access to the store cannot swap one for another. Keys are derived from the
 * operator's secrets; the first one seals and all open.
 *
 * One text at one place always gives the same sealed text, which the store's compare-and-set requires: the nonce is an
 * HMAC of both, so no two texts share one.
 */
export class Seal {
  readonly #keys: readonly [Key, ...Key[]];

  constructor([newest, ...older]: Secrets) {
    this.#keys = [keyOf(newest), ...older.map(keyOf)];
  }

  /** @param place its key in the store; it opens nowhere else */
  close(place: string, text: string): string {
    const { cipher: key, nonce: nonceKey } = this.#keys[0];
    const nonce = createHmac('sha256', nonceKey).update(`${place}\0${text}`).digest().subarray(0, NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(place));
    const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString('base64url');
  }

  /** @returns undefined when none of the secrets has sealed it for that place */
  open(place: string, sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
    for (const { cipher: key } of this.#keys) {
      const cipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(place));
      cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([text, cipher.final()]).toString('utf8');
      } catch {
        // sealed with another secret, or forged
      }
    }
    return undefined;
  }
}

function keyOf(secret: string | Buffer): Key {
  return { cipher: derived(secret, 'cipher'), nonce: derived(secret, 'nonce') };
}

function derived(secret: string | Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `wharf seal ${purpose}`, KEY_BYTES));
}

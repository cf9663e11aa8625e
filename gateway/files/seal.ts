import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface Key {
  cipher: Buffer;
  nonce: Buffer;
}

/**
 * Texts of others that the state store keeps for Wharf and has no use for itself, such as an upstream's session id: a
 * dump of the store shows none, and write access to it puts none in the place of another. Keys are derived from the
 * operator's secrets; of several the first one seals and all open.
 *
 * One text at one place always gives the same sealed text, as the store's compare-and-set needs it: the nonce is an HMAC
 * of both, so that no two texts ever share one.
 */
export class Seal {
  readonly #keys: readonly Key[];

  constructor(secrets: readonly (string | Buffer)[]) {
    this.#keys = secrets.map((secret) => ({ cipher: derived(secret, 'cipher'), nonce: derived(secret, 'nonce') }));
  }

  /** @param place where it is kept: it opens nowhere else */
  close(place: string, text: string): string {
    const { cipher: key, nonce: nonceKey } = this.#keys[0] as Key;
    const nonce = createHmac('sha256', nonceKey).update(`${place}\0${text}`).digest().subarray(0, NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(place));
    const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString('base64url');
  }

  /** @returns undefined for what none of the secrets has sealed at that place */
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
        // sealed with another secret, or by nobody
      }
    }
    return undefined;
  }
}

function derived(secret: string | Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `wharf seal ${purpose}`, KEY_BYTES));
}

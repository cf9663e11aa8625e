import { GatewayError } from '../../errors.js';
import type { Exchange } from '../exchange.js';
import type { Reply } from '../reply.js';

interface ByteHead {
  headers: Record<string, string>;
  /** Bytes, if known. */
  size?: number;
}

/** Who else sees the bytes. */
export interface ByteWatch {
  take?: ((bytes: Buffer) => void) | undefined;
  /** Called once, unless nothing at all was sent because it failed. @param bytes how many were sent */
  over(outcome: 'whole' | 'broken off', bytes: number): void;
}

/**
 * An answer that consists of bytes instead of JSON. Its head is sent with the first bytes, so that a failure before
 * them can still be an error; afterwards only a broken connection shows the client that bytes are missing.
 */
export class ByteAnswer {
  readonly #exchange: Exchange;
  readonly #head: ByteHead;
  readonly #reply: Reply;
  readonly #check: (bytes: number) => void;
  readonly #watch: ByteWatch | undefined;
  #bytes = 0;

  /** @param check throws when more has arrived than may be sent */
  constructor(exchange: Exchange, head: ByteHead, check: (bytes: number) => void, watch?: ByteWatch) {
    this.#watch = watch;
    this.#exchange = exchange;
    this.#head = head;
    this.#reply = exchange.reply;
    this.#check = check;
  }

  /** True once some of it may have reached the client. */
  get begun(): boolean {
    return this.#bytes > 0;
  }

  /** @returns set while the client does not read @throws GatewayError when there are too many */
  write(bytes: Buffer): Promise<void> | undefined {
    if (bytes.length === 0) return undefined;
    const total = this.#bytes + bytes.length;
    this.#check(total);
    if (this.#head.size !== undefined && total > this.#head.size) throw differs(this.#head.size, total);
    if (!this.begun) this.#writeHead();
    this.#bytes = total;
    this.#watch?.take?.(bytes);
    return this.#reply.message([bytes]);
  }

  /** @throws GatewayError when bytes are missing */
  end(): void {
    const { size } = this.#head;
    if (size !== undefined && this.#bytes !== size) throw differs(size, this.#bytes);
    if (!this.begun) this.#writeHead();
    this.#account();
    this.#watch?.over(this.#reply.gone ? 'broken off' : 'whole', this.#bytes);
    this.#reply.end();
  }

  abort(): void {
    this.#account();
    this.#watch?.over('broken off', this.#bytes);
    this.#reply.abort();
  }

  #writeHead(): void {
    const { size, headers } = this.#head;
    if (this.#reply.gone) return;
    const length = size !== undefined && { 'content-length': String(size) };
    this.#reply.head({ status: 200, body: 'other', headers: { ...headers, ...length } });
  }

  #account(): void {
    const { facts } = this.#exchange;
    facts.bytesOut = this.#bytes;
    facts.files += 1;
    facts.fileBytes += this.#bytes;
  }
}

function differs(announced: number, actual: number): GatewayError {
  return new GatewayError('upstream_invalid', { reason: `it announced ${announced} bytes and sent ${actual}` });
}

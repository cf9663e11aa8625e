import { GatewayError } from '../../errors.js';
import type { Exchange } from '../exchange.js';
import { Outlet } from './outlet.js';

export interface ByteHead {
  headers: Record<string, string>;
  /** Bytes, where they are known. */
  size?: number;
}

/**
 * An answer that is bytes instead of JSON. Its head goes out with the first of them, so that whatever fails before can
 * still be said as an error; afterwards only a broken connection tells the client that it did not get all.
 */
export class ByteAnswer {
  readonly #exchange: Exchange;
  readonly #head: ByteHead;
  readonly #outlet: Outlet;
  readonly #check: (bytes: number) => void;
  #bytes = 0;

  /** @param check throws when more has come than may be sent */
  constructor(exchange: Exchange, head: ByteHead, idleMs: number, check: (bytes: number) => void) {
    this.#exchange = exchange;
    this.#head = head;
    this.#outlet = new Outlet(exchange.response, 'json', idleMs);
    this.#check = check;
  }

  /** True once something of it may have reached the client. */
  get begun(): boolean {
    return this.#bytes > 0;
  }

  /** @returns set while the client takes no more @throws GatewayError when they are too many */
  write(bytes: Buffer): Promise<void> | undefined {
    if (bytes.length === 0) return undefined;
    const total = this.#bytes + bytes.length;
    this.#check(total);
    if (this.#head.size !== undefined && total > this.#head.size) throw differs(this.#head.size, total);
    if (!this.begun) this.#writeHead();
    this.#bytes = total;
    return this.#outlet.send([bytes], undefined);
  }

  /** @throws GatewayError when bytes are missing */
  end(): void {
    const { size } = this.#head;
    if (size !== undefined && this.#bytes !== size) throw differs(size, this.#bytes);
    if (!this.begun) this.#writeHead();
    this.#account();
    this.#outlet.end();
  }

  abort(): void {
    this.#account();
    this.#outlet.abort();
  }

  #writeHead(): void {
    const { size, headers } = this.#head;
    const { response } = this.#exchange;
    if (this.#outlet.gone) return;
    response.writeHead(200, { ...headers, ...(size !== undefined && { 'content-length': String(size) }) });
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

import { Crowds } from '../../budget/collections/most-used.js';
import { GatewayError } from '../../errors.js';

/**
 * Most logins that are read at one time. A browser sends one in one piece, and the admin port has few connections, which health
 * needs too.
 */
const MOST = 20;

/**
 * The logins that have not come whole. For one more, of the address with the most of them the one that has been read longest is
 * given up: half a login, sent again and again, takes no place of another caller's.
 */
export class LoginForms {
  readonly #reading = new Crowds<AbortController>();
  #count = 0;

  /** @param read fails with the reason of its signal, `sockets_full`, where the login is given up */
  async read<Form>(address: string, read: (signal: AbortSignal) => Promise<Form>): Promise<Form> {
    if (this.#count >= MOST) this.#reading.first?.abort(new GatewayError('sockets_full', { logins: MOST }));
    const form = new AbortController();
    const crowd = this.#reading.enter(address);
    const place = crowd.spare.add(form);
    this.#count += 1;
    const leave = () => {
      if (!crowd.spare.remove(place)) return;
      this.#reading.leave(crowd);
      this.#count -= 1;
    };
    form.signal.addEventListener('abort', leave);
    try {
      return await read(form.signal);
    } finally {
      leave();
    }
  }
}

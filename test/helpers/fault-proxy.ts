import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Fault {
  /** Milliseconds every chunk is held, in both directions. */
  latencyMs?: number;
  /** What comes for the target is dropped, and the connection goes on. */
  drop?: boolean;
  /** After this many bytes of a connection towards the target, it stalls or resets. */
  toTarget?: { afterBytes: number; how: 'stall' | 'reset' };
  /** The same towards the client. */
  toClient?: { afterBytes: number; how: 'stall' | 'reset' };
  /** Requests whose first bytes match reach the target, which carries them out; the answer is lost in a reset. */
  loseAnswerTo?: RegExp;
  /** How many answers are lost before the rest come through. Default: all. */
  loseTimes?: number;
}

/** A TCP proxy on loopback that breaks connections the way networks do. */
export class FaultProxy {
  #target: { host: string; port: number };
  readonly #sockets = new Set<Socket>();
  #server: Server;
  #port = 0;
  #fault: Fault = {};
  /** Bytes of each open connection, and direction, since the fault was set. */
  readonly #passed = new Set<{ bytes: number }>();
  /** Answers lost so far. */
  lost = 0;

  private constructor(target: { host: string; port: number }) {
    this.#target = target;
    this.#server = this.#makeServer();
  }

  /** @param target a URL whose host and port are where connections go */
  static async start(target: string): Promise<FaultProxy> {
    const { hostname, port } = new URL(target);
    const proxy = new FaultProxy({ host: hostname, port: Number(port) });
    await proxy.accept();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** From now on, also on connections that are open: what they have passed until now does not count. */
  set(fault: Fault): void {
    this.#fault = fault;
    for (const passed of this.#passed) passed.bytes = 0;
    this.lost = 0;
  }

  /** Where new connections go from now on. */
  pointTo(target: string): void {
    const { hostname, port } = new URL(target);
    this.#target = { host: hostname, port: Number(port) };
  }

  /** Listens again, on the same port, after `refuse`. */
  async accept(): Promise<void> {
    this.#server = this.#makeServer();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses connections and resets those that are open. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }

  close(): Promise<void> {
    return this.refuse();
  }

  #makeServer(): Server {
    return createServer({ allowHalfOpen: true }, (client) => this.#link(client));
  }

  #link(client: Socket): void {
    const target = connect({ ...this.#target, allowHalfOpen: true });
    const reset = () => {
      client.resetAndDestroy();
      target.resetAndDestroy();
    };
    let losing = false;
    for (const [from, to, direction] of [
      [client, target, 'toTarget'],
      [target, client, 'toClient'],
    ] as const) {
      this.#sockets.add(from);
      const passed = { bytes: 0 };
      this.#passed.add(passed);
      let stalled = false;
      from.on('close', () => {
        this.#sockets.delete(from);
        this.#passed.delete(passed);
      });
      from.on('error', () => to.destroy());
      from.on('end', () => to.end());
      from.on('data', (chunk: Buffer) => {
        if (stalled || (this.#fault.drop && direction === 'toTarget')) return;
        const { loseAnswerTo, loseTimes = Number.POSITIVE_INFINITY, latencyMs = 0 } = this.#fault;
        if (direction === 'toTarget' && loseAnswerTo?.test(chunk.toString('latin1', 0, 4096))) {
          losing = this.lost < loseTimes;
        }
        if (direction === 'toClient' && losing) {
          this.lost += 1;
          reset();
          return;
        }
        const rule = this.#fault[direction];
        if (rule !== undefined && passed.bytes + chunk.length > rule.afterBytes) {
          to.write(chunk.subarray(0, Math.max(0, rule.afterBytes - passed.bytes)));
          if (rule.how === 'reset') reset();
          else stalled = true;
          return;
        }
        passed.bytes += chunk.length;
        const pass = () => {
          if (!to.destroyed && !to.write(chunk) && !from.isPaused()) {
            from.pause();
            to.once('drain', () => from.resume());
          }
        };
        if (latencyMs > 0) setTimeout(pass, latencyMs);
        else pass();
      });
    }
  }
}

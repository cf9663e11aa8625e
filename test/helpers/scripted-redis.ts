import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What becomes of a command: these bytes are its answer, or the real one comes in another way. */
interface Rule {
  /** Of the command's name and arguments, with blanks between them. */
  command: RegExp;
  /** Instead of the real answer. */
  answer?: string;
  /** The real answer comes byte by byte, with such pauses. */
  dripMs?: number;
  /** The connection ends after the answer. */
  ends?: boolean;
}

/** A real Redis behind a script that answers in its place. */
export class ScriptedRedis {
  readonly #target: number;
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  /** The first that matches counts. */
  rules: Rule[] = [];
  /** New connections are accepted, and never answered. */
  isSilent = false;
  connections = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** @param target port of the real one */
  static async start(target: number): Promise<ScriptedRedis> {
    const scripted = new ScriptedRedis(target);
    scripted.#server.listen(0, '127.0.0.1');
    await once(scripted.#server, 'listening');
    return scripted;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sends bytes that are no command's answer. */
  say(bytes: string): void {
    for (const client of this.#clients) client.write(bytes, 'latin1');
  }

  /** Ends every connection. */
  hangUp(): void {
    for (const client of this.#clients) client.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.hangUp();
    await closed;
  }

  #accept(client: Socket): void {
    this.connections += 1;
    this.#clients.add(client);
    client.on('error', () => undefined);
    client.on('close', () => this.#clients.delete(client));
    if (this.isSilent) {
      client.resume();
      return;
    }
    const target = connect(this.#target, '127.0.0.1');
    target.on('error', () => client.destroy());
    target.on('close', () => client.destroy());
    client.on('close', () => target.destroy());
    const answered: ((answer: Buffer) => void)[] = [];
    each(target, (answer) => answered.shift()?.(answer));
    // one after the other: the answers come in the order of the commands
    let done = Promise.resolve();
    each(client, (command) => {
      done = done.then(async () => {
        const rule = this.rules.find((one) => one.command.test(wordsOf(command)));
        if (rule?.answer !== undefined) {
          client.write(rule.answer, 'latin1');
          return;
        }
        const answer = new Promise<Buffer>((resolve) => answered.push(resolve));
        target.write(command);
        await give(client, await answer, rule);
      });
    });
  }
}

async function give(client: Socket, answer: Buffer, { dripMs, ends = false }: Partial<Rule> = {}): Promise<void> {
  if (dripMs === undefined) client.write(answer);
  else
    for (const byte of answer) {
      if (client.destroyed) return;
      client.write(Buffer.of(byte));
      await sleep(dripMs);
    }
  if (ends) client.end();
}

/** Calls back with each command, or answer, that a socket sends. */
function each(socket: Socket, found: (bytes: Buffer) => void): void {
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (let end = endOf(bytes, 0); end > 0; end = endOf(bytes, 0)) {
      found(bytes.subarray(0, end));
      bytes = bytes.subarray(end);
    }
  });
}

/** Where the value that begins there ends, in RESP; -1 while it is not complete. */
function endOf(bytes: Buffer, at: number): number {
  const line = bytes.indexOf('\r\n', at);
  if (line < 0) return -1;
  const type = bytes.toString('latin1', at, at + 1);
  const count = Number(bytes.toString('latin1', at + 1, line));
  let end = line + 2;
  if ('$=!'.includes(type) && count >= 0) end += count + 2;
  if (end > bytes.length) return -1;
  const values = '*~>'.includes(type) ? count : type === '%' ? 2 * count : 0;
  for (let n = 0; n < values; n += 1) {
    end = endOf(bytes, end);
    if (end < 0) return -1;
  }
  return end;
}

function wordsOf(command: Buffer): string {
  return command
    .toString('latin1')
    .split('\r\n')
    .filter((_, index) => index > 0 && index % 2 === 0)
    .join(' ');
}

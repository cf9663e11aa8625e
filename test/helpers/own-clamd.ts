import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './gateway-process-ports.js';

const run = promisify(execFile);

/** Compiled, this file is dist/test/helpers/own-clamd.js. */
const SCRIPT = fileURLToPath(new URL('../../../deploy/test-services/clamd.sh', import.meta.url));

/** What the signatures of `deploy/test-services/clamd.sh` know, put together here: such a file would be found itself. */
export const EICAR = Buffer.from(
  `X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-${'ANTIVIRUS-TEST'}-FILE!$H+H*`,
  'latin1',
);
export const MARKER = Buffer.from(`WHARF-TEST-${'MALWARE'}-MARKER`, 'latin1');

/** A real clamd that one test may stop, hold and start again. */
export class OwnClamd {
  readonly port: number;
  readonly #env: Record<string, string>;

  private constructor(port: number, env: Record<string, string>) {
    this.port = port;
    this.#env = { ...env, CLAMD_PORT: String(port), CLAMD_DIR: `/tmp/wharf-clamd-own-${port}` };
  }

  /** @param env `CLAMD_MAX_FILE` and the other settings of the script */
  static async start(env: Record<string, string> = {}): Promise<OwnClamd> {
    const clamd = new OwnClamd(await freePort(), env);
    await clamd.restart();
    return clamd;
  }

  /** `antivirus` in the config. */
  get config(): Record<string, unknown> {
    return { use: 'clamd', port: this.port };
  }

  async restart(): Promise<void> {
    await this.#script('start');
  }

  async stop(): Promise<void> {
    await this.#script('stop');
  }

  /** SIGSTOP: it takes connections and says nothing. */
  async signal(name: NodeJS.Signals): Promise<void> {
    const pid = await readFile(`${this.#env.CLAMD_DIR}/clamd.pid`, 'utf8');
    process.kill(Number(pid), name);
  }

  async #script(what: 'start' | 'stop'): Promise<void> {
    // what it starts must not keep the pipes of this process open
    await run('bash', [SCRIPT, what], { env: { ...process.env, ...this.#env } });
  }
}

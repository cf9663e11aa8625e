import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../helpers/wait.js';
import { type Running, start } from './cli-process.js';

/** What the log says of a config that has taken the place of another. */
export const DONE = /The config was reloaded/;

/** A gateway as a process of its own, whose config file is changed while it runs. */
export class Reloading {
  readonly file: string;
  readonly url: string;
  readonly #running: Running;

  private constructor(file: string, url: string, running: Running) {
    this.file = file;
    this.url = url;
    this.#running = running;
  }

  /** @param folder where its config is, and where it runs */
  static async start(folder: string, config: object): Promise<Reloading> {
    const file = join(folder, 'wharf.yaml');
    // YAML reads JSON
    await writeFile(file, JSON.stringify(config));
    const running = start(['--config', file], { cwd: folder });
    const [, url = ''] = await running.printed(/(http:\/\/[^/\s]+)\/\S*mcp\n[\s\S]*files .*\n/);
    return new Reloading(file, url, running);
  }

  /** What it has written to its log. */
  logged(): string {
    return this.#running.err();
  }

  /** Writes another config, and waits until the log says what became of it. @returns the lines since then */
  async reload(config: object | string, told: RegExp = DONE): Promise<string> {
    const before = this.logged().length;
    await writeFile(this.file, typeof config === 'string' ? config : JSON.stringify(config));
    this.#running.child.kill('SIGHUP');
    await until(() => told.test(this.logged().slice(before)));
    return this.logged().slice(before);
  }

  async stop(): Promise<void> {
    this.#running.child.kill('SIGKILL');
    await this.#running.ended;
  }
}

/** Reads a stream to its end, and says whether it has come. */
export function heard(answer: Response): { readonly isOver: boolean } {
  const stream = { isOver: false };
  const over = () => {
    stream.isOver = true;
  };
  answer.text().then(over, over);
  return stream;
}

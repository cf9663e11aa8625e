import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { ROOT } from '../../helpers/tree-copy.js';

/** Chromium without what stands around a page: the same engine, which opens one for half of the processor's time. */
const SHELLS = ['chromium-headless-shell'];
const WHOLE = ['chromium', 'chromium-browser', 'google-chrome'];
/** A download of 100 MB, with whatever else the machine does. */
const INSTALL_MS = 600_000;

/** Nothing of it reaches for the network, and nothing asks for a screen. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];
/**
 * Every page of a suite comes from one machine, and its tabs take turns in one process: one of its own would be started
 * for each tab. What a page keeps is not kept by processes, and is taken away between tests (`close` in lab.ts).
 */
const FEW_PROCESSES = ['--process-per-site', '--renderer-process-limit=1', '--in-process-gpu', '--no-zygote'];

/** The browser that is on the machine, or is put there; `WHARF_TEST_CHROMIUM` names another one. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env.WHARF_TEST_CHROMIUM ?? (await find([...SHELLS, ...WHOLE])) ?? (await install());
  return chromium.launch({ executablePath, args: [...ARGUMENTS, ...FEW_PROCESSES] });
}

/** One that shows PDFs too, as people have it. */
export async function openWholeBrowser(): Promise<Browser> {
  const executablePath = process.env.WHARF_TEST_CHROMIUM ?? (await find(WHOLE)) ?? (await install(WHOLE));
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

/** The first of these names that is on the PATH. */
async function find(names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const path = join(folder, name);
      if (
        await access(path).then(
          () => true,
          () => false,
        )
      )
        return path;
    }
  }
  return undefined;
}

async function install(names = [...SHELLS, ...WHOLE]): Promise<string> {
  await promisify(execFile)(join(ROOT, 'deploy/test-services/chromium.sh'), ['install'], { timeout: INSTALL_MS });
  const path = await find(names);
  if (path === undefined) throw new Error('Chromium was installed, and is not found; set WHARF_TEST_CHROMIUM.');
  return path;
}

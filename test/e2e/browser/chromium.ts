import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { ROOT } from '../../helpers/tree-copy.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
/** A download of 100 MB, with whatever else the machine does. */
const INSTALL_MS = 600_000;

/** Nothing of it reaches for the network, and nothing asks for a screen. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** The browser that is on the machine, or is put there; `WHARF_TEST_CHROMIUM` names another one. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env.WHARF_TEST_CHROMIUM ?? (await find()) ?? (await install());
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

async function find(): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of NAMES) {
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

async function install(): Promise<string> {
  await promisify(execFile)(join(ROOT, 'deploy/test-services/chromium.sh'), ['install'], { timeout: INSTALL_MS });
  const path = await find();
  if (path === undefined) throw new Error('Chromium was installed, and is not found; set WHARF_TEST_CHROMIUM.');
  return path;
}

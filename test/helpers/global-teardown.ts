import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { started } from './global-setup.js';

const SCRIPTS = fileURLToPath(new URL('../../../deploy/test-services/', import.meta.url));

/** Stops what the setup has started; what ran before goes on running. */
export default async function tearDown(): Promise<void> {
  const { XDG_STATE_HOME: state } = process.env;
  if (state?.startsWith(tmpdir())) await rm(state, { recursive: true, force: true });
  await Promise.all(started.map((script) => promisify(execFile)(SCRIPTS + script, ['stop'])));
}

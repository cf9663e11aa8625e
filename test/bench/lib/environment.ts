import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './paths.js';
import { debianTool, PEER_VERSIONS } from './tools.js';

const GIB = 1024 ** 3;

function distribution(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux';
  } catch {
    return 'Linux';
  }
}

/** What a figure depends on, as a Markdown list. */
export function environment(command: string): string[] {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const [cpu] = cpus();
  return [
    `- ${new Date().toISOString().slice(0, 10)}, ${distribution()}, ${cpus().length} cores of ${cpu?.model.trim() ?? '?'}, ${Math.round(totalmem() / GIB)} GiB`,
    `- Node ${process.version}, wharf ${version}, nginx ${debianTool('nginx').version} (proxy_buffering off, one worker), wrk ${debianTool('wrk').version}`,
    `- ${Object.entries(PEER_VERSIONS)
      .map(([name, wanted]) => `${name} ${wanted}`)
      .join(', ')}: stateful, in front of the same answers over stdio`,
    `- \`${command}\``,
  ];
}

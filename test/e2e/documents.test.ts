import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { parse } from 'yaml';
import { parseCommandLine } from '../../gateway/cli.js';
import { hostLines } from '../../gateway/http/pages/host-lines.js';
import { filesystemServer } from '../helpers/sdk-servers.js';
import { ROOT } from './cli-process.js';

const pages = [
  ...(await readdir(ROOT)).filter((name) => /^[A-Z]+\.md$/.test(name) && name !== 'CHANGELOG.md'),
  ...(await readdir(join(ROOT, 'docs'), { recursive: true }))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const texts = await Promise.all(pages.map(async (page) => [page, await readFile(join(ROOT, page), 'utf8')] as const));
const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };

/** The fenced blocks of one kind. */
const blocks = (text: string, kind: string) =>
  [...text.matchAll(new RegExp(`^ *\`\`\`${kind}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'))].map(([, block]) => block ?? '');

/** Everything in a page that is a command: the lines of shell blocks, and code within sentences. */
function commandsIn(text: string): string[] {
  const lines = blocks(text, 'sh').flatMap((block) => block.replace(/\\\n/g, ' ').split('\n'));
  const inSentences = [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');
  return [...lines, ...inSentences].map((line) => line.replace(/\s+/g, ' ').trim());
}

const commands = texts.flatMap(([page, text]) => commandsIn(text).map((command) => [page, command] as const));
const about = (program: RegExp) => commands.filter(([, command]) => program.test(command));

/** As a shell splits it, where nothing is quoted; a comment is none of it. */
const words = (command: string) => command.replace(/ #.*$/, '').split(' ');

/** The command `wharf`, however the line begins. */
const wharfLines = about(/^(?:claude mcp add \S+ -- |codex mcp add \S+ -- )?wharf (?!\d)[a-z-]/).map(
  ([page, command]) => [page, words(command.replace(/^.*? -- (?=wharf )/, '')).slice(1)] as const,
);

describe('in the documents, every command', () => {
  it.each(wharfLines)('%s: wharf %j is one that wharf takes', (_page, args) => {
    const parsed = parseCommandLine(args, '0.0.0');
    // a name without its options stands for the command in a sentence
    const isName =
      /Say which|required option|missing required argument|give either/.test(parsed.err) &&
      args.every((word) => /^[a-z]+$|^--$/.test(word));
    expect(isName ? '' : parsed.err).toBe('');
  });

  it('of wharf was found', () => {
    expect(wharfLines.length).toBeGreaterThan(20);
  });

  it.each(about(/^npm (?:run|start|test)\b/))('%s: %s is a script of package.json', (_page, command) => {
    const [, verb = '', ...rest] = words(command);
    const name = verb === 'run' ? rest.find((word) => !word.startsWith('-')) : verb;
    expect(Object.keys(scripts)).toContain(name);
  });

  it.each(texts.flatMap(([page, text]) => blocks(text, 'sh').map((block) => [page, block] as const)))(
    '%s is shell: %j',
    async (_page, block) => {
      const child = spawn('bash', ['-n'], { stdio: ['pipe', 'ignore', 'pipe'] });
      let said = '';
      child.stderr.on('data', (chunk) => {
        said += String(chunk);
      });
      child.stdin.end(block);
      const code = await new Promise((resolve) => child.once('close', resolve));
      expect([code, said]).toEqual([0, '']);
    },
  );
});

const readme = texts.find(([name]) => name === 'README.md')?.[1] ?? '';

describe('the README', () => {
  it('names the hosts for which the page in a browser has lines to paste', () => {
    const [, named = ''] = /shows what to paste into ([^;]+);/.exec(readme) ?? [];
    const hosts = hostLines({ name: 'files', url: 'http://127.0.0.1:8080/mcp', asksKey: false }).map(
      ({ host }) => host,
    );
    expect(named.split(/,\s+|\s+and\s+/)).toEqual([...new Set(hosts)]);
  });

  it('names the oldest Node that runs Wharf, and the oldest that builds it', async () => {
    const { engines, devEngines } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      engines: { node: string };
      devEngines: { runtime: { version: string } };
    };
    expect(`>=${/You need Node (\S+) or later/.exec(readme)?.[1]}`).toBe(engines.node);
    expect(`>=${/npm 11\s+on Node (\S+) is enough/.exec(readme)?.[1]}`).toBe(devEngines.runtime.version);
  });
});

describe('Connect a host', () => {
  const page = texts.find(([name]) => name === 'docs/how-to/connect-a-host.md')?.[1] ?? '';

  it.each(hostLines({ name: 'files', url: 'http://127.0.0.1:8080/mcp', asksKey: false }))(
    'has for $host what the page in a browser has',
    ({ host, place, form, lines }) => {
      const section = page.split(/^## /m).find((text) => text.startsWith(`${host}\n`)) ?? '';
      expect(section).toContain(`${place}:\n`);
      expect(blocks(section, form === 'shell' ? 'sh' : form)).toEqual([`${lines}\n`]);
    },
  );
});

describe('a config for a host that starts wharf itself', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-documents-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  interface Entry {
    command: string;
    args: string[];
  }
  const entries = texts.flatMap(([page, text]) =>
    blocks(text, 'json')
      .filter((block) => block.includes('"command": "wharf"'))
      .flatMap((block) => Object.values((JSON.parse(block) as { mcpServers: Record<string, Entry> }).mcpServers))
      .map((entry) => [page, entry] as const),
  );

  it('is in the README and in the pages for hosts', () => {
    const names = entries.map(([page]) => page);
    expect(names).toEqual(expect.arrayContaining(['README.md', 'docs/how-to/connect-a-host.md']));
  });

  it.each(entries)('works: %s', async (_page, { args }) => {
    // the package of the example, as it is installed here, in a folder that there is
    const { command = [] } = filesystemServer(folder);
    const at = args.indexOf('npx');
    if (at >= 0) expect(args.slice(at)).toEqual(['npx', '-y', '@modelcontextprotocol/server-filesystem', '/data']);
    const own = at < 0 ? args : [...args.slice(0, at), ...command];
    const client = new Client({ name: 'documents', version: '1' });
    const program = join(ROOT, 'dist/gateway/main.js');
    const env = { HOME: folder, PATH: process.env.PATH ?? '' };
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [program, ...own], env, stderr: 'ignore' }),
    );
    expect((await client.listTools()).tools.length).toBeGreaterThan(3);
    await client.close();
  });
});

const hour = texts.find(([name]) => name === 'docs/organisation.md')?.[1] ?? '';
const read = async (name: string) => readFile(join(ROOT, name), 'utf8');
interface Composed {
  services: Record<string, Record<string, unknown> & { volumes?: string[] }>;
}
const [base, added] = await Promise.all(
  ['docker-compose.yml', 'docker-compose.organisation.yml'].map(
    async (name) => parse(await read(name), { merge: true }) as Composed,
  ),
);
const composed = { ...base?.services, ...added?.services };
const pasted = blocks(hour, 'sh').join('\n');

/** The services that are in the network of another one. */
const sharing = (name: string) =>
  Object.keys(composed).filter((one) => composed[one]?.network_mode === `service:${name}`);

describe('the composed stack', () => {
  // podman's API takes a command apart at its spaces
  it.each(Object.keys(composed))('asks %s for its health in words without a space', (name) => {
    const { test = [] } = (composed[name]?.healthcheck ?? {}) as { test?: string[] };
    expect(test.filter((word) => word.includes(' '))).toEqual([]);
  });

  it('is replaced one replica at a time, as its page says', () => {
    const page = texts.find(([name]) => name === 'docs/how-to/docker.md')?.[1] ?? '';
    const replacing = [...page.matchAll(/docker compose up -d --build(.*)/g)].map(([, rest = '']) => rest.trim());
    expect(replacing).toEqual(['--wait gateway-1', '--wait gateway-2']);
  });
});

describe("An organisation's gateway, within an hour", () => {
  it('names services that there are, and sets what they need', async () => {
    const commands = [...pasted.matchAll(/docker compose (exec|stop|start) (.+)/g)].map(([, verb, rest = '']) => ({
      verb,
      names: verb === 'exec' ? rest.split(' ', 1) : rest.split(' '),
    }));
    const named = commands.flatMap(({ names }) => names);
    expect(named.length).toBeGreaterThan(4);
    // a container in the network of one that starts anew is left with the old network
    for (const { names } of commands.filter(({ verb }) => verb !== 'exec'))
      expect(names).toEqual(expect.arrayContaining(names.flatMap(sharing)));
    expect(named.filter((name) => !(name in composed))).toEqual([]);
    const needed = [...(await read('docker-compose.organisation.yml')).matchAll(/\$\{(\w+):\?/g)].map(
      ([, name]) => name,
    );
    expect(needed.length).toBeGreaterThan(1);
    for (const name of needed) expect(pasted).toContain(`\n${name}=`);
    expect(pasted).toContain('COMPOSE_FILE=docker-compose.yml:docker-compose.organisation.yml');
  });

  it('gives every replica the configuration that it explains', () => {
    expect(hour).toContain('](../deploy/examples/organisation.yaml)');
    for (const replica of ['gateway-1', 'gateway-2']) {
      expect(added?.services[replica]?.command).toEqual(['--config', '/etc/wharf/organisation.yaml']);
      // a single file that is mounted stays the old one when an editor puts another in its place
      expect(base?.services[replica]?.volumes).toContain('./deploy/examples:/etc/wharf:ro');
    }
    // two processes would end the chain of one audit log
    const disks = ['gateway-1', 'gateway-2'].map((replica) => added?.services[replica]?.volumes?.[0]);
    expect(new Set(disks).size).toBe(2);
  });

  it.each(
    Object.keys(composed).filter((name) => !(name in (added?.services ?? {})) || !(name in (base?.services ?? {}))),
  )('starts %s without rights that it does not need', (name) => {
    expect(composed[name]).toMatchObject({
      ...{ init: true, read_only: true, cap_drop: ['ALL'] },
      security_opt: ['no-new-privileges:true'],
    });
  });
});

describe('llms.txt', () => {
  it('leads to files that there are, and to every page', async () => {
    const text = await readFile(join(ROOT, 'llms.txt'), 'utf8');
    const targets = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => String(target));
    for (const target of targets) await readFile(join(ROOT, target));
    expect(pages.filter((page) => page !== 'docs/README.md' && !targets.includes(page))).toEqual([]);
  });
});

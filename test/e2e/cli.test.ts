import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../helpers/wait.js';
import { ROOT, runScript, start, startScript, wharf } from './cli-process.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

describe('wharf', () => {
  it('without arguments tells how to begin and exits 2', async () => {
    const { code, out, err } = await wharf();
    expect([code, out]).toEqual([2, '']);
    for (const way of ['--upstream http', '-- npx', '--config wharf.yaml', '--help']) expect(err).toContain(way);
  });

  it('refuses a second server instead of forgetting the first', async () => {
    const { code, err } = await wharf(
      '--upstream',
      'http://127.0.0.1:1/mcp',
      '-u',
      'http://127.0.0.1:2/mcp?key=secret',
    );
    expect([code, err]).toEqual([2, "error: option '-u, --upstream <url>' can be given once\n"]);
  });

  it('takes a second -- before a command, which some launchers remove, for none', async () => {
    const asked = ['inspect', '--', '--', 'no-such-program', '--', 'x'];
    const { err } = await wharf(...asked);
    expect(err).toMatch(/^no-such-program: asking for its tools/);
    for (const args of [
      ['--', '--'],
      ['stdio', '--', '--'],
    ]) {
      const { code, err: advice } = await wharf(...args);
      expect([code, advice]).toEqual([2, expect.stringContaining('npx -y @modelcontextprotocol/server-filesystem')]);
    }
  });

  it('--help shows examples and what comes next', async () => {
    const { code, out, err } = await wharf('--help');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/Examples:[\s\S]*wharf -- npx[\s\S]*paste the URL/);
  });

  it.each([
    [],
    ['check'],
    ['doctor'],
    ['inspect'],
    ['explain'],
    ['files'],
    ['probe'],
    ['schema'],
    ['stdio'],
    ['audit'],
  ])('help of %j fits into 80 columns', async (...command) => {
    const { out } = await wharf(...command, '--help');
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it.each(['check', 'inspect', 'schema', 'stdio'])('help %s is what %s --help is', async (command) => {
    const help = await wharf('help', command);
    expect(help).toEqual(await wharf(command, '--help'));
    expect(help.out).toMatch(new RegExp(`^Usage: wharf ${command} `));
  });

  it.each([['stdio'], ['doctor'], ['explain'], ['audit', 'verify']])(
    '%s --help writes no empty list where an option may be repeated',
    async (...command) => {
      const { code, out } = await wharf(...command, '--help');
      expect([code, out.match(/may be\s+repeated/)?.length]).toEqual([0, 1]);
      expect(out).not.toContain('default: []');
    },
  );

  it('files says why an admin port does not answer', async () => {
    const { code, err } = await wharf('files', 'list', '--admin', 'http://127.0.0.1:1111');
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^The admin port at \S+ cannot be reached: .*ECONNREFUSED.*is this its adminListen\?\n$/),
    ]);
  });

  it('--version prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(await wharf('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  // only Linux has a file that is always full
  (process.platform === 'linux' ? it : it.skip)(
    'says in one line that a disk is full, and a gateway goes on',
    async () => {
      const main = [process.execPath, `${ROOT}dist/gateway/main.js`];
      const full = await runScript('sh', ['-c', 'exec "$0" "$@" >/dev/full', ...main, 'schema'], process.env);
      expect(full).toEqual({
        code: 1,
        out: '',
        err: 'The output cannot be written: ENOSPC: no space left on device, write\n',
      });
      const gateway = [...main, '--listen', '127.0.0.1:0', '--', 'cat'];
      const running = startScript('sh', ['-c', 'exec "$0" "$@" >/dev/full', ...gateway], process.env);
      // what it prints once it is up
      await until(() => running.err().includes('The output cannot be written'));
      running.child.kill('SIGTERM');
      const { code, err } = await running.ended;
      expect(err).toContain('Draining');
      expect(code).toBe(0);
    },
  );

  it('refuses a Node that is too old in one line, before it loads anything that such a Node cannot read', async () => {
    for (const [node, runs] of [
      ['20.20.2', false],
      ['22.18.0', false],
      ['22.19.0', true],
      ['24.0.0', true],
    ] as const) {
      const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })`;
      const program = `--import=data:text/javascript,${encodeURIComponent(old)}`;
      const { code, err } = await start([`${ROOT}dist/gateway/main.js`, '--version'], { program }).ended;
      expect([node, code]).toEqual([node, runs ? 0 : 1]);
      expect(err).toMatch(runs ? /^$/ : /^wharf needs Node 22\.19 or newer; this is v\S+ \(\S+\)\.\n$/);
    }
  });

  it.each([
    [['chek'], /Did you mean check\?/],
    [['npx', 'server'], /wharf -- npx server/],
    [['http://x/mcp'], /wharf --upstream http:\/\/x\/mcp$/m],
    [['wharf.yaml'], /wharf --config wharf\.yaml$/m],
    [['stdio', 'http://x/mcp'], /wharf stdio --upstream http:\/\/x\/mcp$/m],
    [['inspect', 'http://x/mcp'], /wharf inspect --upstream http:\/\/x\/mcp$/m],
    [['inspect', 'wharf.yaml'], /wharf inspect --config wharf\.yaml$/m],
    [['check', 'wharf.yaml'], /wharf check --config wharf\.yaml$/m],
    [['doctor', '--confg', 'wharf.yaml'], /Did you mean --config\?/],
    [['--bogus'], /unknown option '--bogus'/],
    [['npx', '-y', 'foo'], /\nPut -- before a server's command: wharf -- npx -y foo\n$/],
    [['stdio', 'node', 'x.js'], /\nPut -- before a server's command: wharf stdio -- node x\.js\n$/],
    [['--env', 'KEY', 'npx', '-y', 'foo'], /\nPut -- .* command: wharf --env KEY -- npx -y foo\n$/],
    [['doctor', '--json', 'ocr', '-x'], /\nPut -- .* command: wharf doctor --json -- ocr -x\n$/],
    [['doctor', 'wharf.yaml'], /\nPut --config .* file: wharf doctor --config wharf\.yaml\n$/],
    [['stdio', '--config', 'wharf.yaml', 'ocr', '--verbose'], /unknown option '--verbose'\n$/],
    [['doctor'], /^Say which config or server to try:\n {2}wharf doctor --config wharf\.yaml\n/],
    [['inspect', 'http://x/mcp', '--', 'cat'], /wharf inspect --upstream http:\/\/x\/mcp$/m],
    [['files'], /^Say which of these to do:\n {2}wharf files list --config wharf\.yaml\n {2}wharf files show .* ID…\n/],
    [['files', 'lst'], /^error: "lst" must be one of: list, .*\. Did you mean list\?\n$/],
    [['stdio', '--verbose'], /unknown option '--verbose'\n$/],
    [['--upstream'], /argument missing/],
    [['--upstream', 'http://x/', '--config', 'y'], /only one of/],
    [['--upstream', 'http://x/', '--', 'node'], /only one of/],
    [['check'], /--config <file>' not specified\nName the file: wharf check --config wharf\.yaml\n$/],
    [['check', '--config', 'a', 'b'], /too many arguments/],
    [['schema', '--format', 'xml'], /json, markdown/],
    [['--'], /wharf --upstream/],
    [['files', 'list', '--admin', 'http://127.0.0.1:1', '--limit', 'ten'], /--limit must be a number from 1 to 1000/],
    [
      ['files', 'list', '--admin', 'http://127.0.0.1:1', '--digest', 'sha256:0f'],
      /--digest must be a SHA-256 in base64url/,
    ],
    [['files', 'list', '--admin', 'http://127.0.0.1:1', 'f_a'], /wharf files show f_a$/m],
    [['files', 'list', '--admin', 'http://127.0.0.1:1', '--config', 'y'], /only one of --config FILE and --admin URL/],
    [['stdio'], /wharf stdio -- npx/],
    [['stdio', '--env', 'A_KEY=abc', '--', 'cat'], /^error: --env takes the name .* without a value: --env A_KEY$/m],
    [['stdio', '--env', 'A_KEY', '--upstream', 'http://x/'], /--env is for the command of a server/],
    [['--env', 'A_KEY', '--config', 'y'], /--env is for the command of a server/],
    [['inspect', '--env', 'A-KEY', '--', 'cat'], /^error: --env takes the name .*: --env NAME$/m],
    [['help', 'chek'], /Usage: wharf/],
    [['help', 'chek'], /^error: unknown command "chek"\. Did you mean check\?\n.*\n$/],
    [['help', 'frobnicate'], /^error: unknown command "frobnicate"\.\nUsage: .*wharf --help lists them\.\n$/],
  ])('%j is a usage error', async (args, message) => {
    const { code, out, err } = await wharf(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });

  it.each([
    [['--upstream', 'localhost:3001/mcp'], /^--upstream: must be a URL that begins with http:\/\/ or https:\/\/$/m],
    [['--upstream', 'ftp://x/'], /^--upstream: must be an http:\/\/ or https:\/\/ URL/m],
    [['inspect', '--upstream', 'here'], /^--upstream: /m],
    [['--upstream', 'http://x/', '--listen', 'here'], /^--listen: must be HOST:PORT/m],
    [['--upstream', 'http://x/', '--log-level', 'loud'], /^--log-level: must be one of/m],
    [['--upstream', 'http://x/', '--listen', '0.0.0.0:80'], /^--listen: .*allowPublic: true/m],
    [['--config', ''], /^--config: must name a file$/m],
    [['--config', '/nowhere.yaml'], /^\/nowhere\.yaml: does not exist$/m],
    [['stdio', '--env', 'NOT_SET', '--', 'cat'], /^--env: needs the environment variable NOT_SET, which is not set$/m],
    [['--env', 'NOT_SET', '--', 'cat'], /^--env: needs the environment variable NOT_SET, which is not set$/m],
    [
      ['inspect', '--env', 'NOT_SET', '--', 'cat'],
      /^--env: needs the environment variable NOT_SET, which is not set$/m,
    ],
  ])('%j does not start', async (args, message) => {
    const { code, out, err } = await wharf(...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(message);
  });
});

describe('wharf check', () => {
  it('says ok and sums up', async () => {
    const { code, out, err } = await wharf(
      'check',
      '--config',
      await file('good.yaml', 'servers: { a: { command: [node, x.js] } }'),
    );
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^ok\n[\s\S]*a \(stdio\)[\s\S]*127\.0\.0\.1:8080[\s\S]*filesystem/);
  });

  it('tells every problem, one a line, and exits 1', async () => {
    const text = 'servers: { a: { url: "http://u:pa55word@x/" } }\nlimits: { fil: 1 }\nlogLevel: loud\n';
    const { code, out, err } = await wharf('check', '--config', await file('bad.yaml', text));
    expect([code, err]).toEqual([1, '']);
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => line.split(': ')[0]).toSorted()).toEqual(['limits.fil', 'logLevel', 'servers.a.url']);
    expect(out).not.toContain('pa55word');
  });
});

describe('wharf check tells what was meant and what is so', () => {
  const HTTP = 'servers: { a: { url: "http://nowhere.invalid:1/mcp" } }\n';

  it.each([
    ['links: { ttl: 48h }', /links .* live 1d \(links\.ttl is 2d, and no link outlives its file: retention\)/],
    ['links: { style: presigned }', /links +gateway \(filesystem has no presigned ones\)/],
    ['', /servers +a \(HTTP; which transport is found out when it is first used\)/],
    ['', /Nothing was started, and no server and no store was contacted\./],
  ])('%s: %s', async (text, summary) => {
    const { code, out } = await wharf('check', '--config', await file('true.yaml', HTTP + text));
    expect([code, out.split('\n')[0]]).toEqual([0, 'ok']);
    expect(out).toMatch(summary);
    expect(out).not.toContain('probed');
  });

  it('says presigned where the store has such links', async () => {
    const s3 = 'objects: { use: s3, bucket: wharf-files }';
    const { out } = await wharf('check', '--config', await file('s3.yaml', `${HTTP}${s3}\nlinks: { ttl: 15m }`));
    expect(out).toMatch(/links +presigned, live 15m\n/);
    const { out: lasting } = await wharf('check', '--config', await file('s3-lasting.yaml', `${HTTP}${s3}`));
    expect(lasting).toMatch(/links +presigned, live 15m\n +Wharf's own, which models read, as long as their files\n/);
  });

  it.each([
    ['servers: { a: { command: [definitely-not-there] } }', 'servers.a.command[0]: is not found in PATH'],
    [
      '{"mcpServers": {"c": {"command": "npx -y server"}}}',
      'mcpServers.c.command: is not found in PATH; it must be the program alone, and each argument an item of its own (it is "npx -y server")',
    ],
    ['servers: { a: { command: [/not/there] } }', 'servers.a.command[0]: is not a program that can be run here'],
    ['servers: { a: { command: [node], cwd: /not/there } }', 'servers.a.cwd: is not a folder of this machine'],
    ['{"mcpServers": {"c": {"command": "not-there"}}}', 'mcpServers.c.command: is not found in PATH'],
    [
      '{"mcpServers": {"c": {"command": "npx", "disabled": true}}}',
      'mcpServers: holds no server that is switched on: "c" has "disabled": true',
    ],
    ['{"mcpServers": {"c": {"comand": "npx"}}}', 'it has "comand": did you mean "command"?'],
    [
      '{"mcpServers": {"c": {"command": "npx", "arg": []}}}',
      'mcpServers.c.arg: is not a known key; did you mean "args"?',
    ],
    ['servers: { a: { command: npx, args: [-y, "my server"] } }', 'must be a list: ["npx", "-y", "my server"]'],
    [
      'servers: { a: { command: [npx], args: [-y] } }',
      'args: is not a known key; arguments are further items of command',
    ],
    ['servers: { a: { command: "npx -y \'my server\'" } }', 'must be a list: ["npx", "-y", "my server"]'],
    [`${HTTP}secret: 01234567890123456789012345678901234567`, 'secret: must be a string: unquoted it is a number'],
    ['servers: { a: { command: [node], env: { PORT: 3001 } } }', 'servers.a.env.PORT: must be a string: unquoted'],
    [`${HTTP}objects: { use: s3 }`, 'objects.bucket: is required: a string\n'],
  ])('%s', async (text, told) => {
    const { code, out } = await wharf('check', '--config', await file('wrong.yaml', text));
    expect([code, out.includes(told) ? told : out]).toEqual([1, told]);
  });

  it('and repeats no secret of a command line', async () => {
    const text = 'servers: { a: { command: "npx x --api-key hunter2 TOKEN=hunter3 https://u:hunter4@h/" } }';
    const { out } = await wharf('check', '--config', await file('secret.yaml', text));
    expect(out).toContain('must be a list: ["npx", "x", "--api-key", "…", "…"');
    expect(out).not.toContain('hunter');
  });
});

describe('a reader that has enough', () => {
  it.each([
    ['schema', 0],
    ['check --config /nowhere.yaml', 1],
    ['--help', 0],
  ])('wharf %s | true ends quietly, with the code it always has', async (args, expected) => {
    const program = join(ROOT, 'dist/gateway/main.js');
    const script = `"${process.execPath}" "${program}" ${args} | true; exit "\${PIPESTATUS[0]}"`;
    const { code, err } = await runScript('/bin/bash', ['-c', script], process.env);
    expect([code, err]).toEqual([expected, '']);
  });
});

describe('wharf schema', () => {
  it('prints the JSON Schema that is in the repository', async () => {
    const { code, out } = await wharf('schema');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual(JSON.parse(await readFile(join(ROOT, 'deploy/wharf.schema.json'), 'utf8')));
  });

  it('prints the reference that is in the repository', async () => {
    const { out } = await wharf('schema', '--format', 'markdown');
    expect(out).toBe(await readFile(join(ROOT, 'CONFIG.md'), 'utf8'));
  });
});

describe('wharf explain', () => {
  it('says why an error occurs and what to do', async () => {
    const { code, out } = await wharf('explain', 'store_full');
    expect(code).toBe(0);
    expect(out).toMatch(/^store_full: HTTP 507, .*\n\n {2}The object store is full\.\n\nWhy: .*\nWhat to do: .*\n$/);
  });

  it('lists all errors for a person', async () => {
    expect((await wharf('explain', 'frobnicate')).err).toMatch(/called "frobnicate"\. "wharf explain" lists them\.\n$/);
    const { out } = await wharf('explain');
    const errors = await readFile(join(ROOT, 'docs/reference/errors.md'), 'utf8');
    const codes = [...errors.matchAll(/^### (\w+)\n/gm)].map(([, code]) => code);
    expect([...out.matchAll(/^ {2}(\w+) +\d{3} {2}\S.*\.$/gm)].map(([, code]) => code)).toEqual(codes);
    expect(out).toMatch(/^The codes of errors, .* "wharf explain CODE" says what to do\.\n\nRequests and sessions\n/);
  });

  it('prints the page of all errors for the documentation', async () => {
    const { out } = await wharf('explain', '--format', 'markdown');
    expect(out).toBe(await readFile(join(ROOT, 'docs/reference/errors.md'), 'utf8'));
    expect((await wharf('explain', 'store_full', '--format', 'markdown')).err).toMatch(/leave the code out/);
  });

  it('says what a client would get, and why', async () => {
    const { code, out } = await wharf('explain', '--client', 'Visual Studio Code@1.107.0');
    expect(code).toBe(0);
    expect(out).toMatch(/^Visual Studio Code@1\.107\.0 is VS Code \(profile "vscode"\)\.\n/);
    expect(out).toMatch(/\n {2}structured: drop\n {6}because it drops all text .* \[.*microsoft\/vscode.*\]\n/);
    expect((await wharf('explain', '--client', 'vscode')).out).toMatch(/^vscode is VS Code \(profile "vscode"\)\.\n/);
    const versioned = await wharf('explain', '--client', 'Visual Studio Code', '--version', '1.107.0');
    expect([versioned.code, versioned.out]).toEqual([0, out]);
    const other = await wharf('explain', '--client', 'netscape');
    expect(other.out).toMatch(/^netscape is not a known host: .* no images in errors\.\n/);
    const mistyped = await wharf('explain', '--client', 'claud-code@2.1');
    expect(mistyped.out).toMatch(/^claud-code@2\.1 is not a known host: .* Did you mean "claude-code"\?\n/);
    expect(other.out).toMatch(/one of (?:[\w.-]+, )*claude-code, /);
  });

  it('counts what a config says about a client', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wharf-explain-'));
    const file = join(folder, 'wharf.yaml');
    const clients =
      '[{ match: { name: mine, version: ">=2" }, like: vscode, host: { structured: keep }, dialects: [sep-2356], elicitation: [url], limits: { file: 10kB, accept: ["image/*"] } }]';
    await writeFile(file, `servers: { a: { url: "http://127.0.0.1:1/mcp" } }\nclients: ${clients}\n`);
    const { out } = await wharf('explain', '--client', 'mine@2.1', '--config', file);
    await rm(folder, { recursive: true });
    expect(out).toContain('mine@2.1 is VS Code (profile "vscode").\nAn entry of clients: matches it, like: vscode.\n');
    expect(out).toContain('\n  structured: keep\n      because clients: says so\n');
    expect(out).toContain(
      '\nWhat the entry says besides:\n  dialects: sep-2356\n  elicitation: url\n  limits.file: 10kB in a file\n  limits.accept: image/*\n\n',
    );
  });

  it.each([
    [
      ['--config', 'a.yaml'],
      '--config and --principal are about a client or a server: add --client NAME or --server NAME',
    ],
    [['--version', '2'], '--version is about a client: add --client NAME'],
    [['store_full', '--client', 'x'], 'give either the code of an error or --client NAME'],
  ])('%j is refused', async (args, message) => {
    const { code, err } = await wharf('explain', ...args);
    expect([code, err]).toEqual([2, `error: ${message}\n`]);
  });

  it('proposes the code that was meant', async () => {
    const { code, err } = await wharf('explain', 'store_ful');
    expect([code, err]).toEqual([1, 'There is no error called "store_ful". Did you mean store_full?\n']);
  });
});

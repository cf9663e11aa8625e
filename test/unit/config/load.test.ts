import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { loadConfig } from '../../../gateway/config/load.js';
import { DEFAULT_LIMITS, DEFAULT_TIMEOUTS } from '../../../gateway/policy/limits.js';
import { configOf, loadText, problemsOf } from './load-text.js';

const SERVER = 'servers: { a: { url: "http://127.0.0.1:1/mcp" } }\n';

describe('a config of one server', () => {
  it('has every default', async () => {
    const config = await configOf(SERVER, { HOME: '/home/me' });
    expect(config).toMatchObject({
      listen: { host: '127.0.0.1', port: 8080 },
      publicUrl: undefined,
      adminListen: undefined,
      adminAllowPublic: false,
      gatewayId: 'wharf',
      objects: {
        use: 'filesystem',
        settings: { path: expect.stringMatching(/^\/home\/me\/\.local\/state\/wharf\/[0-9a-f]{16}$/) },
      },
      state: { use: 'memory' },
      previews: { use: 'local' },
      links: { style: 'presigned', ttl: 900_000 },
      limits: DEFAULT_LIMITS,
      timeouts: DEFAULT_TIMEOUTS,
      retention: 86_400_000,
      auth: { use: 'none', allowPublic: false },
      uploadTool: { request: 'request_file_upload', link: 'get_file_link' },
      handoff: [],
      clients: [],
      allowedHosts: [],
      allowedOrigins: [],
      fetch: { allowedHosts: undefined },
      logLevel: 'info',
    });
    expect(config.servers).toEqual([
      {
        name: 'a',
        transport: 'probed',
        accepts: 4 * 1024 * 1024,
        settings: expect.objectContaining({ url: 'http://127.0.0.1:1/mcp' }),
        limits: DEFAULT_LIMITS,
        tools: {},
        fetchOrigins: [],
        uploadTool: { request: 'request_file_upload', link: 'get_file_link' },
      },
    ]);
  });

  it('has an admin port by default only where other machines reach it', async () => {
    const open = 'listen: 0.0.0.0:8080\npublicUrl: https://x\nauth: { use: none, allowPublic: true }\n';
    expect((await configOf(open + SERVER)).adminListen).toEqual({ host: '127.0.0.1', port: 9090 });
    expect((await configOf(`listen: "[::1]:8080"\n${SERVER}`)).adminListen).toBeUndefined();
    const asked = await configOf(`adminListen: 127.0.0.1:9191\n${SERVER}`);
    expect(asked.adminListen).toEqual({ host: '127.0.0.1', port: 9191 });
  });

  it('may begin with a byte order mark and end its lines with CR LF', async () => {
    const config = await configOf(`\ufeffgatewayId: dock\r\n${SERVER.replace('\n', '\r\n')}`);
    expect(config.gatewayId).toBe('dock');
  });

  it('may be JSON with tabs', async () => {
    const config = await configOf('{\n\t"servers": {\n\t\t"a": { "url": "http://127.0.0.1:1/mcp" }\n\t}\n}\n');
    expect(config.servers.map(({ name }) => name)).toEqual(['a']);
  });
});

describe('values', () => {
  it.each([
    ['4096', 4096],
    ['32KiB', 32_768],
    ['100MB', 100_000_000],
    ['500kB', 500_000],
    ['1.5MiB', 1_572_864],
    ['2 GiB', 2_147_483_648],
    ['12B', 12],
    ['16.1kB', 16_100],
    ['0.000001MB', 1],
  ])('size %s is %i bytes', async (spelled, expected) => {
    expect((await configOf(`${SERVER}limits: { file: ${spelled} }`)).limits.file).toBe(expected);
  });

  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['15m', 900_000],
    ['1.5m', 90_000],
    ['16.1s', 16_100],
  ])('time %s is %i ms', async (spelled, expected) => {
    expect((await configOf(`${SERVER}timeouts: { idle: ${spelled} }`)).timeouts.idle).toBe(expected);
  });

  it.each([
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['localhost:1', { host: 'localhost', port: 1 }],
    ['127.9.9.9:0', { host: '127.9.9.9', port: 0 }],
  ])('listen %s', async (spelled, expected) => {
    expect((await configOf(`${SERVER}listen: "${spelled}"`)).listen).toEqual(expected);
  });

  it('hosts to fetch from may be ports and domains; no list means every public one', async () => {
    const hosts = [
      'files.example',
      'files.example:8443',
      '*.blobs.example',
      '*.blobs.example:8443',
      '[2606:4700::1111]',
    ];
    const { fetch } = await configOf(`${SERVER}fetch: { allowedHosts: ${JSON.stringify(hosts)} }\n`);
    expect(fetch.allowedHosts).toEqual(hosts);
    expect((await configOf(`${SERVER}fetch: { allowedHosts: [] }\n`)).fetch.allowedHosts).toBeUndefined();
  });

  it('a public URL keeps its path and loses its last slash', async () => {
    expect((await configOf(`${SERVER}publicUrl: https://Example.com/wharf/`)).publicUrl).toBe(
      'https://example.com/wharf',
    );
  });

  it('a server may lower its own limits and keeps the others', async () => {
    const config = await configOf(
      `servers: { a: { command: [node], limits: { file: 1MiB, processes: 2 } } }\nlimits: { depth: 50 }`,
    );
    expect(config.servers[0]).toMatchObject({
      transport: 'stdio',
      settings: { command: ['node'] },
      limits: { ...DEFAULT_LIMITS, depth: 50, file: 1_048_576, processes: 2 },
    });
  });
});

describe('environment variables', () => {
  it('stand anywhere in a text, with defaults, and may spell numbers and booleans', async () => {
    const config = await configOf(
      `servers: { a: { url: "http://\${HOST}:\${PORT:-3001}/mcp", headers: { A: "Bearer \${KEY}" } } }
limits: { files: "\${FILES}" }
auth: { use: none, allowPublic: "\${PUBLIC:-true}" }
gatewayId: \${EMPTY:-dock}
`,
      { HOST: '127.0.0.1', KEY: '0123', FILES: '7', EMPTY: '' },
    );
    expect(config.servers[0]?.settings).toMatchObject({
      url: 'http://127.0.0.1:3001/mcp',
      headers: { A: 'Bearer 0123' },
    });
    expect(config.limits.files).toBe(7);
    expect(config.auth).toEqual({ use: 'none', allowPublic: true });
    expect(config.gatewayId).toBe('dock');
  });

  it('stay text where text is wanted, even when they spell a number', async () => {
    const config = await configOf(
      `${SERVER}objects: { use: s3, bucket: abc, accessKeyId: "\${ID}", secretAccessKey: "\${KEY}" }`,
      {
        ID: '12345',
        KEY: 'true',
      },
    );
    expect(config.objects.settings).toMatchObject({ accessKeyId: '12345', secretAccessKey: 'true' });
  });

  it(`are not looked for in what a variable holds, nor behind $\${`, async () => {
    const config = await configOf(`servers: { a: { command: [node, "\${A}", "$\${B}"] } }`, { A: `\${C}` });
    expect(config.servers[0]?.settings.command).toEqual(['node', `\${C}`, `\${B}`]);
  });

  it('reach a child only where it needs them to run', async () => {
    const config = await configOf(SERVER, {
      HOME: '/home/u',
      PATH: '/bin',
      AWS_SECRET_ACCESS_KEY: 'x',
      NODE_OPTIONS: '--inspect',
    });
    expect(config.inheritedEnv).toEqual({ HOME: '/home/u', PATH: '/bin' });
    expect(config.withheldEnv).toEqual(['AWS_SECRET_ACCESS_KEY', 'NODE_OPTIONS']);
  });
});

describe('the mcpServers file of desktop hosts', () => {
  const text = JSON.stringify({
    globalShortcut: 'Ctrl+Space',
    mcpServers: {
      'My Files': {
        command: 'npx',
        args: ['-y', 'server-files', '/data'],
        env: { A: '1' },
        type: 'stdio',
        autoApprove: [],
      },
      search: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { Authorization: `Bearer \${KEY}` } },
      old: { type: 'sse', url: 'http://127.0.0.1:1/sse' },
      bare: { url: 'http://127.0.0.1:1/mcp' },
      off: { command: 'nothing', disabled: true },
    },
  });

  it('is read as it is', async () => {
    const config = await configOf(text, { KEY: 'k' });
    expect(config.servers.map(({ name, transport }) => [name, transport])).toEqual([
      ['my-files', 'stdio'],
      ['search', 'streamable-http'],
      ['old', 'legacy-sse'],
      ['bare', 'probed'],
    ]);
    expect(config.servers.map(({ hostName }) => hostName)).toEqual(['My Files', undefined, undefined, undefined]);
    expect(config.servers[0]?.settings).toMatchObject({
      command: ['npx', '-y', 'server-files', '/data'],
      env: { A: '1' },
    });
    expect(config.servers[1]?.settings).toMatchObject({ headers: { Authorization: 'Bearer k' } });
  });

  it.each([
    ['{"mcpServers": []}', 'mcpServers'],
    ['{"mcpServers": {}}', 'mcpServers'],
    ['{"mcpServers": {"a": {"command": "x", "disabled": true}}}', 'mcpServers'],
    ['{"mcpServers": {"a": {"comand": "x"}}}', 'mcpServers.a'],
    ['{"mcpServers": {"a": {"command": "x", "arg": []}}}', 'mcpServers.a.arg'],
    ['{"mcpServers": {"a": "npx"}}', 'mcpServers.a'],
    ['{"mcpServers": {"a": {"url": "http://x/", "type": "ws"}}}', 'mcpServers.a.type'],
    ['{"mcpServers": {"a": {"command": "x", "args": "y"}}}', 'mcpServers.a.args'],
    ['{"mcpServers": {"a": {"command": "x", "type": "http"}}}', 'mcpServers.a.type'],
    ['{"mcpServers": {"My A": {"command": "x", "cmd": "y"}}}', 'mcpServers["My A"].cmd'],
    ['{"mcpServers": {"A b": {"command": "x"}, "a-B": {"command": "x"}}}', 'mcpServers.a-B'],
    ['{"mcpServers": {"日本": {"command": "x"}}}', 'mcpServers["日本"]'],
  ])("tells a problem by the host's own name: %s", async (bad, path) => {
    expect((await problemsOf(bad)).map((found) => found.path)).toEqual([path]);
  });
});

describe('the command line', () => {
  it('wins over the file', async () => {
    const result = await loadText(`${SERVER}listen: 127.0.0.1:1\n`, {}, { listen: '127.0.0.1:2', logLevel: 'error' });
    expect(result).toMatchObject({ ok: true, config: { listen: { port: 2 }, logLevel: 'error' } });
  });

  it('is named when it is wrong', async () => {
    const result = await loadText(SERVER, {}, { adminListen: 'everywhere' });
    expect(result).toMatchObject({ ok: false, problems: [{ path: '--admin-listen' }] });
  });
});

describe('an admin port that others can reach', () => {
  it.each(['auth: { use: apiKeys, keys: [{ name: a, hash: "sha256:KEY" }] }', 'auth: { use: none }'])(
    'is allowed by a switch of its own, whatever auth says: %s',
    async (auth) => {
      const written = `adminListen: 0.0.0.0:9090\nadminAllowPublic: true\n${auth.replace('KEY', 'ab'.repeat(32))}\n`;
      expect(await loadText(`${SERVER}${written}`)).toMatchObject({
        ok: true,
        config: { adminListen: { host: '0.0.0.0', port: 9090 }, adminAllowPublic: true },
      });
    },
  );
});

describe('a file that cannot be read', () => {
  it('is told when it does not exist', async () => {
    const result = await loadConfig({ file: '/nowhere/wharf.yaml' }, adapters, {});
    expect(result).toEqual({ ok: false, problems: [{ path: '/nowhere/wharf.yaml', message: 'does not exist' }] });
  });

  it('is told with the folder in which it was looked for, where its path is not whole', async () => {
    const result = await loadConfig({ file: 'nowhere.yaml' }, adapters, {});
    const message = `does not exist in ${process.cwd()}`;
    expect(result).toEqual({ ok: false, problems: [{ path: 'nowhere.yaml', message }] });
  });

  it('is told when it is a directory', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wharf-config-'));
    const result = await loadConfig({ file: folder }, adapters, {});
    await rm(folder, { recursive: true });
    expect(result).toEqual({ ok: false, problems: [{ path: folder, message: 'is a directory; name the file' }] });
  });
});

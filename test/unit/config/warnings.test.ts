import { describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { logWarnings, summaryText, warningsText } from '../../../gateway/report.js';
import { configOf, problemsOf } from './load-text.js';

const SERVER = 'servers: { a: { url: "http://127.0.0.1:1/mcp" } }\n';
const toldOf = async (objects: string) => {
  const config = await configOf(`${SERVER}objects: ${objects}\n`);
  const logged: unknown[] = [];
  logWarnings(config, adapters, { warn: (fields, text) => logged.push({ ...fields, text }) });
  return { logged, summary: summaryText(config, adapters) };
};

describe('a store whose bytes nothing protects on their way', () => {
  it.each(['http://s3:9000', 'http://10.0.0.7:7480', 'http://127.0.0.1.example.com'])(
    'is told at the start and by wharf check, with the key that mends it: %s (by reading)',
    async (endpoint) => {
      const { logged, summary } = await toldOf(`{ use: s3, bucket: files, endpoint: "${endpoint}" }`);
      expect(logged).toEqual([
        {
          path: 'objects.signPayload',
          text: expect.stringMatching(/^objects\.signPayload is false, .*Set signPayload: true, or an https:/),
        },
      ]);
      expect(summary).toMatch(/^ {2}warning: objects\.signPayload is false, /m);
    },
  );

  it.each([
    ['the bytes are signed', '{ use: s3, bucket: files, endpoint: "http://s3:9000", signPayload: true }'],
    ['there is TLS', '{ use: s3, bucket: files, endpoint: "https://s3.example.com" }'],
    ['it is AWS', '{ use: s3, bucket: files }'],
    ['it is on this machine', '{ use: s3, bucket: files, endpoint: "http://127.0.0.1:9000" }'],
    ['it is on this machine, by IPv6', '{ use: s3, bucket: files, endpoint: "http://[::1]:9000" }'],
    ['it is a folder', '{ use: filesystem, path: /tmp/files }'],
  ])('is not told where %s', async (_, objects) => {
    const { logged, summary } = await toldOf(objects);
    expect(logged).toEqual([]);
    expect(summary).not.toContain('warning');
  });
});

describe('an address of S3 with the bucket in it', () => {
  it.each([
    ['endpoint', 'https://files.s3.eu-central-1.amazonaws.com'],
    ['endpoint', 'https://id.r2.cloudflarestorage.com/files/'],
    ['publicEndpoint', 'https://s3.example.com/files'],
  ])('is told at the start and by wharf check: %s %s', async (key, url) => {
    const { logged, summary } = await toldOf(`{ use: s3, bucket: files, ${key}: "${url}" }`);
    expect(logged).toEqual([
      { path: `objects.${key}`, text: expect.stringContaining('names the bucket "files", which Wharf adds itself') },
    ]);
    expect(summary).toMatch(new RegExp(`^ {2}warning: objects\\.${key} names the bucket "files"`, 'm'));
  });

  it.each(['https://files.example.com', 'https://s3.example.com/store', 'https://s3.example.com/files/below'])(
    'is not told of another: %s',
    async (url) => {
      expect((await toldOf(`{ use: s3, bucket: files, endpoint: "${url}" }`)).logged).toEqual([]);
    },
  );
});

describe('a section under its old name', () => {
  const told = async (text: string) => {
    const config = await configOf(`${SERVER}${text}\n`);
    const logged: unknown[] = [];
    logWarnings(config, adapters, { warn: (_fields, line) => logged.push(line) });
    return { previews: config.previews, logged, summary: summaryText(config, adapters) };
  };

  it('works, and the start and wharf check say what to write instead', async () => {
    const { previews, logged, summary } = await told('thumbnails: { use: none }');
    expect(previews).toEqual({ use: 'none', settings: {} });
    expect(logged).toEqual(['thumbnails is the old name of "previews": write "previews" instead.']);
    expect(summary).toMatch(/^ {2}warning: thumbnails is the old name of "previews"/m);
  });

  it('works with the old name of its adapter', async () => {
    const { previews, logged } = await told('thumbnails: { use: sharp, queue: 3 }');
    expect(previews).toMatchObject({ use: 'local', settings: { queue: 3 } });
    expect(logged).toEqual(['thumbnails is the old name of "previews": write "previews" instead, with use: local.']);
  });

  it('has its problems under the name that the file has', async () => {
    expect(await problemsOf(`${SERVER}thumbnails: { use: sharp, queue: -1 }\n`)).toEqual([
      expect.objectContaining({ path: 'thumbnails.queue', value: '-1' }),
    ]);
  });

  it('is refused beside the new one', async () => {
    expect(await problemsOf(`${SERVER}thumbnails: { use: none }\npreviews: { use: none }\n`)).toEqual([
      { path: 'thumbnails', message: 'is the old name of "previews", which is there too: remove "thumbnails"' },
    ]);
  });

  it('is not known under both names of the adapter', async () => {
    expect(await problemsOf(`${SERVER}previews: { use: sharp }\n`)).toMatchObject([{ path: 'previews.use' }]);
  });
});

describe('tokens that are passed on unread', () => {
  it('are told at the start and by wharf check', async () => {
    const config = await configOf(`${SERVER}auth: { use: passthrough }\n`);
    const logged: unknown[] = [];
    logWarnings(config, adapters, { warn: (fields, text) => logged.push({ ...fields, text }) });
    expect(logged).toEqual([{ path: 'auth.use', text: expect.stringMatching(/^auth\.use passes callers' tokens/) }]);
    expect(summaryText(config, adapters)).toMatch(/^ {2}warning: auth\.use passes callers' tokens/m);
  });
});

describe("a server that is switched off in a host's file", () => {
  it('is told at the start, by wharf check and by wharf inspect, which all leave it out', async () => {
    const config = await configOf(
      '{"mcpServers": {"Files": {"command": "node"}, "Old One": {"command": "node", "disabled": true}}}',
    );
    expect(config.servers.map(({ name }) => name)).toEqual(['files']);
    const text = 'mcpServers["Old One"] is left out: it is switched off by "disabled": true.';
    const logged: unknown[] = [];
    logWarnings(config, adapters, { warn: (_fields, line) => logged.push(line) });
    expect(logged).toEqual([text]);
    expect(summaryText(config, adapters)).toContain(`\n  warning: ${text}\n`);
    expect(warningsText(config, adapters)).toBe(`warning: ${text}\n`);
  });
});

describe("a shell's variable in what a server gets", () => {
  const pathsOf = async (text: string) => (await configOf(text)).warnings.map(({ path }) => path);

  it('is told, because it is sent as it is', async () => {
    const url = 'url: "http://127.0.0.1:1/mcp"';
    expect(await pathsOf(`servers: { a: { ${url}, headers: { Authorization: Bearer $TOKEN } } }`)).toEqual([
      'servers.a.headers.Authorization',
    ]);
    expect(await pathsOf('{"mcpServers": {"A b": {"command": "node", "env": {"KEY": "$KEY"}}}}')).toEqual([
      'mcpServers["A b"].env.KEY',
    ]);
  });

  it('is told from a password with a "$" in it, and from a variable', async () => {
    const text = `servers: { a: { command: [node], env: { A: "pa$SWORD", B: "$5", C: "\${HOME:-$HOME}" } } }`;
    expect(await pathsOf(text)).toEqual([]);
  });
});

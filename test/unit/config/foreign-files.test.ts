import { describe, expect, it } from '@jest/globals';
import { configOf, FILE, problemsOf } from './load-text.js';

const SERVER = 'servers: { a: { url: "http://127.0.0.1:1/mcp" } }\n';

const ISSUER = 'auth.jwt.issuers[0]';

/** What stands in the file, the place that is named, and what is said of it. */
const ADVICE: [name: string, text: string, path: string, message: string | RegExp][] = [
  [
    'extensions of Goose',
    'extensions: { files: { type: stdio, cmd: npx } }',
    'extensions',
    /Goose's config.yaml. Here it is servers:/,
  ],
  ['context servers of Zed', '{"context_servers": {"a": {}}}', 'context_servers', /Zed's settings.json/],
  ['the settings of VS Code', '{"mcp": {"servers": {}}}', 'mcp', /VS Code's settings.json/],
  ['the inputs of VS Code', `inputs: []\n${SERVER}`, 'inputs', /VS Code's mcp.json/],
  [
    'a config of Codex',
    '# mine\n\n[mcp_servers.files]\ncommand = "npx"\n',
    FILE,
    'is TOML; Wharf reads YAML and JSON, with the servers under "servers"',
  ],
  [
    'a type beside a URL',
    'servers: { a: { type: sse, url: "http://x/sse" } }',
    'servers.a.type',
    /hosts have it. In a file with "mcpServers" in place of "servers"/,
  ],
  [
    'a server that is switched off',
    'servers: { a: { command: [node], disabled: true } }',
    'servers.a.disabled',
    /"mcpServers"/,
  ],
  ['a list of servers', 'servers:\n  - name: a\n', 'servers', /^must be a map, not a list, of at least one server/],
  ['an address as a server', 'servers: { a: http://x/mcp }', 'servers.a', /stdio server\): \{ url: … \}$/],
  [
    'a command line as a server',
    'servers: { a: npx -y foo }',
    'servers.a',
    /stdio server\): \{ command: \["npx", "-y", "foo"\] \}$/,
  ],
  ['a key without a blank', 'servers:\n  a:\n    url:http://x/mcp', 'servers.a', /; write a blank after "url:"$/],
  ['a server above its keys', 'servers:\n  a:\n  url: http://x/mcp', 'servers.a', /must stand further to the right$/],
  [
    'a name with capitals',
    'servers: { My_Server: { url: "http://x/" } }',
    'servers.My_Server',
    /, such as "my-server"$/,
  ],
  [
    'a key that is too far to the left',
    `${SERVER}limits:\nfile: 5MB`,
    'file',
    /as a key of limits it must stand below/,
  ],
  ['a word for true', `${SERVER}adminAllowPublic: yes`, 'adminAllowPublic', 'must be true or false: "yes" is a text'],
  ['a map of callers', `${SERVER}callers: { ci: {} }`, 'callers', 'must be a list, not a map: "- " begins each item'],
  [
    'a list of variables',
    'servers: { a: { command: [node], env: ["A=1"] } }',
    'servers.a.env',
    'must be a map, not a list: NAME: VALUE, without "-" before it',
  ],
  [
    'a section whose keys are comments',
    `${SERVER}limits:\n  # file: 1MB`,
    'limits',
    /^is empty, but must be a map: what belongs to it stands below it, further to the right\. /,
  ],
  ['a no-break space', `${SERVER}\u00a0gatewayId: a`, '["\u00a0gatewayId"]', /^has a blank that is not a space/],
  [
    'a limit of a caller that is too far to the left',
    `${SERVER}callers: [{ file: 1MB, limits: { uploads: 1 } }]`,
    'callers[0].file',
    'is not a known key here; as a key of limits it must stand below that, further to the right',
  ],
  [
    'an issuer alone',
    `${SERVER}auth: { use: jwt, jwt: { issuers: ["https://idp.example"] } }`,
    ISSUER,
    /"issuer" in it$/,
  ],
  [
    'a quote that is not closed',
    `${SERVER}gatewayId: "a\n`,
    `${FILE}:3:1`,
    'has no closing " for a text that begins above it',
  ],
  [
    'a brace that is not closed',
    `${SERVER}limits: { file: 1MB\nsecret: x`,
    `${FILE}:3:1`,
    /^comes before the "\}" or "\]" of what begins above it: close that/,
  ],
  ["a shell's variable", 'servers: { a: { url: "$URL" } }', 'servers.a.url', /; a variable has braces, \$\{NAME\}$/],
  [
    'an unknown key beside an unknown transport',
    'servers: { a: { url: "http://x/mcp", transport: sse, header: {} } }',
    'servers.a.header',
    /did you mean "headers"|known here: url, headers/,
  ],
  ['a store as a word', `${SERVER}objects: s3`, 'objects', 'must be a map: { use: s3, … }'],
  ['a login as a word', `${SERVER}auth: apiKeys`, 'auth', 'must be a map: { use: apiKeys, … }'],
  ['a store as an address', `${SERVER}state: "redis://r:6379"`, 'state', 'must be a map with "use" in it'],
  ['an antivirus that is switched off', `${SERVER}antivirus: false`, 'antivirus', 'must be a map: { use: none }'],
  [
    'an encoding as a word',
    'servers: { a: { command: [node], tools: { t: { files: { image: base64 } } } } }',
    'servers.a.tools.t.files.image',
    'must be a map: { encoding: base64, … }',
  ],
  [
    'an address of a store without a scheme',
    `${SERVER}objects: { use: s3, bucket: b, endpoint: "s3.local:9000", region: x }`,
    'objects.endpoint',
    'must be a whole URL, such as http://127.0.0.1:9000',
  ],
  [
    "a variable in the editors' spelling",
    `{"mcpServers":{"a":{"command":"node","env":{"T":"\${env:GH_TOKEN}"}}}}`,
    'mcpServers.a.env.T',
    `has \${env:GH_TOKEN}, which is not a variable here; write \${GH_TOKEN}`,
  ],
  [
    'an input of the user',
    `{"mcpServers":{"a":{"command":"node","env":{"T":"\${input:key}"}}}}`,
    'mcpServers.a.env.T',
    /^has \$\{input:key\}, for which hosts ask the user/,
  ],
  [
    "an editor's folder",
    `{"mcpServers":{"a":{"command":"node","args":["\${workspaceFolder}/x"]}}}`,
    'mcpServers.a.command[1]',
    /only editors know it, so write the path$/,
  ],
  [
    'a file of variables',
    '{"mcpServers":{"a":{"command":"node","envFile":".env"}}}',
    'mcpServers.a.envFile',
    /put the variables of that file into "env"/,
  ],
  [
    'two names of one path',
    '{"mcpServers":{"My Server":{"command":"node"},"my-server":{"command":"node"}}}',
    'mcpServers.my-server',
    'needs another name: its path would be "my-server", as that of "My Server"',
  ],
  ['a name without letters', '{"mcpServers":{"日本":{"command":"node"}}}', 'mcpServers["日本"]', /at least one of a-z/],
  [
    'a variable within braces',
    `servers: { a: { url: "http://x/", headers: { A: Bearer \${T} } } }`,
    `${FILE}:1:57`,
    /put the value in quotes$/,
  ],
  [
    'a package within brackets',
    'servers: { a: { command: [npx, @a/b] } }',
    `${FILE}:1:32`,
    /@; put the value in quotes$/,
  ],
  [
    'a path of Windows',
    '{"mcpServers":{"a":{"command":"C:\\Users\\me"}}}',
    `${FILE}:1:34`,
    /^has a "\\" that means nothing in this place; write "\\\\" for each/,
  ],
  ['two keys in one line', 'servers:\n  a:\n    headers: A: b', `${FILE}:3:14`, /^has two keys in one line/],
  [
    'a key further to the left',
    'servers:\n  a:\n    url: x\n   cwd: y',
    `${FILE}:4:1`,
    /more or fewer blanks before it$/,
  ],
  [
    'a server twice',
    'servers:\n  a: { url: x }\n  a: { url: y }',
    `${FILE}:3:3`,
    /has the key "a" for the second time/,
  ],
];

describe('a config that was copied from elsewhere, or written as elsewhere', () => {
  it.each(ADVICE)('%s', async (_, text, path, message) => {
    const told = await problemsOf(text);
    const found = told.find((problem) => problem.path === path);
    expect({ told, message: found?.message }).toEqual({
      told,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });

  it('quotes nothing of a line that is not YAML', async () => {
    const text = `servers: { a: { url: x, headers: { A: "hunter2\\qhunter2" } } }`;
    expect(JSON.stringify(await problemsOf(text))).not.toMatch(/hunter2/);
    const spelled = `{"mcpServers":{"a":{"command":"node","env":{"T":"\${hunter2:x}"}}}}`;
    expect(JSON.stringify(await problemsOf(spelled))).not.toMatch(/hunter2/);
  });

  it('keeps a URL without quotes, as YAML takes it', async () => {
    const config = await configOf('{ "servers": { "a": { "url": https://a.example/mcp } } }');
    expect(config.servers.map(({ settings }) => (settings as { url: string }).url)).toEqual(['https://a.example/mcp']);
  });

  it('is read with the comments that editors allow, and with the names that hosts give a URL', async () => {
    const config = await configOf(`// mine
{ /* all of
     them */
  "mcpServers": {
    "a": { "url": "https://a.example//mcp" }, // one
    "b": { "httpUrl": "https://b.example/mcp" },
    "c": { "serverUrl": "https://c.example/mcp", "trust": true },
  },
}`);
    expect(config.servers.map(({ name, settings }) => [name, (settings as { url: string }).url])).toEqual([
      ['a', 'https://a.example//mcp'],
      ['b', 'https://b.example/mcp'],
      ['c', 'https://c.example/mcp'],
    ]);
  });

  it('is YAML where it does not begin as JSON: two slashes are a part of a value', async () => {
    const config = await configOf(`${SERVER}objects: { use: filesystem, path: //server/share }`);
    expect(config.objects.settings.path).toBe('//server/share');
  });
});

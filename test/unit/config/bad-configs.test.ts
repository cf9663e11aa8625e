import { describe, expect, it } from '@jest/globals';
import { FILE, problemsOf } from './load-text.js';

interface Bad {
  name: string;
  text: string | Uint8Array;
  /** The path of the problem that must be told. */
  path: string;
  message: RegExp;
  env?: Record<string, string>;
}

const SERVER = 'servers: { a: { url: "http://127.0.0.1:1/mcp" } }\n';
const withServer = (rest: string) => SERVER + rest;
const server = (rest: string) => `servers: { a: { url: "http://127.0.0.1:1/mcp", ${rest} } }`;
const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const SECRET = 'hunter2-very-secret';
const HASH = `sha256:${'0123456789ABCDEF'.repeat(4)}`;

const FILES: Bad[] = [
  { name: 'an empty file', text: '', path: FILE, message: /is empty; it needs servers: / },
  { name: 'a file of comments', text: '# nothing\n', path: FILE, message: /is empty/ },
  { name: 'a list', text: '- a\n', path: FILE, message: /map of settings/ },
  { name: 'a single word', text: 'wharf\n', path: FILE, message: /map of settings/ },
  { name: 'a NUL', text: withServer('gatewayId: "a\0b"\n'), path: FILE, message: /NUL/ },
  { name: 'what is not UTF-8', text: bytes(SERVER, 'gatewayId: ', [0xff, 0xfe]), path: FILE, message: /UTF-8/ },
  {
    name: 'a tab for indentation',
    text: 'servers:\n\ta: 1\n',
    path: `${FILE}:2:1`,
    message: /has tabs .* blanks only/,
  },
  {
    name: 'a key twice',
    text: `${SERVER}${SERVER}`,
    path: `${FILE}:2:1`,
    message: /"servers" for the second time; .* unique/,
  },
  {
    name: 'a nested key twice',
    text: 'servers: { a: { url: x, url: y } }',
    path: `${FILE}:1:25`,
    message: /"url" for the second time; .* unique/,
  },
  {
    name: 'a tag that runs code',
    text: withServer('gatewayId: !!js/function "x"\n'),
    path: `${FILE}:2:12`,
    message: /tag/,
  },
  {
    name: 'an unclosed bracket',
    text: 'servers: { a: [\n',
    path: `${FILE}:2:1`,
    message: /^comes before the "\}" or "\]"/,
  },
  {
    name: 'two documents',
    text: `${SERVER}---\n${SERVER}`,
    path: `${FILE}:2:1`,
    message: /multiple documents; a config is one/,
  },
  { name: 'a hundred thousand brackets', text: '['.repeat(100_000), path: FILE, message: /too deep/ },
  { name: 'fifty thousand dashes', text: '- '.repeat(50_000), path: FILE, message: /too deep/ },
  { name: 'fifty thousand question marks', text: '? '.repeat(50_000), path: FILE, message: /too deep/ },
  { name: 'more than a mebibyte', text: `# ${'x'.repeat(1024 * 1024)}`, path: FILE, message: /more than/ },
  {
    name: 'anchors that double',
    text: `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${[1, 2, 3, 4, 5].map((n) => `a${n}: &a${n} [${Array(9).fill(`*a${n - 1}`)}]`).join('\n')}\n`,
    path: FILE,
    message: /anchors/,
  },
  {
    name: 'a map deeper than any config',
    text: withServer(`objects: ${'{ a: '.repeat(40)}1${' }'.repeat(40)}`),
    path: 'objects.a.a.a',
    message: /nested deeper/,
  },
];

const VARIABLES: Bad[] = [
  {
    name: 'a variable that is not set',
    text: withServer(`gatewayId: \${NAME}`),
    path: 'gatewayId',
    message: /NAME, which is not set/,
  },
  {
    name: 'an empty variable',
    text: withServer(`gatewayId: \${NAME}`),
    env: { NAME: '' },
    path: 'gatewayId',
    message: /is empty/,
  },
  {
    name: 'a name that is none',
    text: withServer(`gatewayId: "\${input:key}"`),
    path: 'gatewayId',
    message: /not a variable/,
  },
  {
    name: 'an unclosed variable',
    text: withServer(`gatewayId: "a\${NAME"`),
    env: { NAME: 'x' },
    path: 'gatewayId',
    message: /not a variable/,
  },
  {
    name: 'a variable within a default',
    text: withServer(`gatewayId: "\${NAME:-\${OTHER}}"`),
    path: 'gatewayId',
    message: /without another variable/,
  },
  {
    name: 'text where a number is due',
    text: withServer(`limits: { files: "\${N}" }`),
    env: { N: 'many' },
    path: 'limits.files',
    message: /whole number/,
  },
];

const KEYS: Bad[] = [
  {
    name: 'an unknown key',
    text: withServer('tools: []'),
    path: 'tools',
    message: /not a known key/,
  },
  { name: 'a mistyped key', text: withServer('listn: 127.0.0.1:1'), path: 'listn', message: /did you mean "listen"/ },
  {
    name: "two letters of a short key in each other's place",
    text: 'servers: { a: { ulr: "http://127.0.0.1:1/mcp" } }',
    path: 'servers.a',
    message: /it has "ulr": did you mean "url"\?/,
  },
  {
    name: 'the servers of a host in other letters',
    text: '{ "mcpservers": { "a": { "command": "node" } } }',
    path: 'mcpservers',
    message: /did you mean "mcpServers"\?/,
  },
  {
    name: 'a key in the wrong case',
    text: withServer('publicURL: http://x'),
    path: 'publicURL',
    message: /"publicUrl"/,
  },
  ...[
    ['auth: { use: none, allowPubic: true }', 'auth.allowPubic', 'allowPublic'],
    ['auth: { use: [apiKeys, jwt], keyz: [] }', 'auth.keyz', 'keys'],
    ['state: { use: redis, ulr: x }', 'state.ulr', 'url'],
  ].map(([text = '', path = '', known]) => ({
    name: `${path}, in one of several kinds of a section`,
    text: withServer(text),
    path,
    message: new RegExp(`(?:did you mean|known here:).*${known}`),
  })),
  {
    name: 'a mistyped limit',
    text: withServer('limits: { inlineImages: 1kB }'),
    path: 'limits.inlineImages',
    message: /"inlineImage"/,
  },
  {
    name: 'a mistyped time-out',
    text: withServer('timeouts: { drian: 1s }'),
    path: 'timeouts.drian',
    message: /"drain"/,
  },
  {
    name: 'a mistyped setting of a store',
    text: withServer('objects: { use: s3, buket: x }'),
    path: 'objects.buket',
    message: /"bucket"/,
  },
  {
    name: 'a setting of another store',
    text: withServer('state: { use: memory, url: "redis://x" }'),
    path: 'state.url',
    message: /not a known key/,
  },
  { name: 'a mistyped key of a server', text: server('heders: {}'), path: 'servers.a.heders', message: /"headers"/ },
  {
    name: 'a process-wide limit on a server',
    text: server('limits: { held: 1MiB }'),
    path: 'servers.a.limits.held',
    message: /not a known key/,
  },
  { name: '__proto__', text: withServer('__proto__: { listen: x }'), path: '__proto__', message: /not a known key/ },
];

const VALUES: Bad[] = [
  {
    name: 'a size in small letters',
    text: withServer('limits: { file: 10mb }'),
    path: 'limits.file',
    message: /must be a size/,
  },
  {
    name: 'an ambiguous KB',
    text: withServer('limits: { file: 10KB }'),
    path: 'limits.file',
    message: /must be a size/,
  },
  {
    name: 'a share of nothing',
    text: withServer('limits: { share: 0 }'),
    path: 'limits.share',
    message: /above 0 and at most 1/,
  },
  {
    name: 'a share beyond all',
    text: withServer('limits: { share: 25% }'),
    path: 'limits.share',
    message: /above 0 and at most 1/,
  },
  { name: 'a negative size', text: withServer('limits: { file: -1 }'), path: 'limits.file', message: /must be a size/ },
  {
    name: 'a file limit of nothing',
    text: withServer('limits: { file: 0 }'),
    path: 'limits.file',
    message: /must be a size/,
  },
  {
    name: 'an infinite size',
    text: withServer('limits: { file: 1e400 }'),
    path: 'limits.file',
    message: /must be a size/,
  },
  {
    name: 'a size beyond the greatest',
    text: withServer('limits: { response: 1GiB }'),
    path: 'limits.response',
    message: /to 256MiB/,
  },
  { name: 'half a byte', text: withServer('limits: { file: 1.5 }'), path: 'limits.file', message: /must be a size/ },
  {
    name: 'true for a size',
    text: withServer('limits: { file: true }'),
    path: 'limits.file',
    message: /must be a size/,
  },
  {
    name: 'a time without a unit',
    text: withServer('timeouts: { idle: 30 }'),
    path: 'timeouts.idle',
    message: /must be a time/,
  },
  {
    name: 'a time of nothing',
    text: withServer('timeouts: { idle: 0s }'),
    path: 'timeouts.idle',
    message: /must be a time/,
  },
  {
    name: 'a count with a fraction',
    text: withServer('limits: { files: 1.5 }'),
    path: 'limits.files',
    message: /whole number/,
  },
  { name: 'a section that is a word', text: withServer('limits: none'), path: 'limits', message: /must be a map/ },
  { name: 'a section left empty', text: withServer('limits:'), path: 'limits', message: /is empty, but must be a map/ },
  { name: 'a port beyond the last', text: withServer('listen: 127.0.0.1:65536'), path: 'listen', message: /HOST:PORT/ },
  { name: 'no port', text: withServer('listen: 127.0.0.1'), path: 'listen', message: /HOST:PORT/ },
  { name: 'a host that is no address', text: withServer('listen: 300.1.1.1:80'), path: 'listen', message: /HOST:PORT/ },
  {
    name: 'a public URL of files',
    text: withServer('publicUrl: file:///etc'),
    path: 'publicUrl',
    message: /http:\/\/ or https:\/\//,
  },
  {
    name: 'a public URL with a query',
    text: withServer('publicUrl: https://a.example/?x=1'),
    path: 'publicUrl',
    message: /query/,
  },
  {
    name: 'a public URL with a password',
    text: withServer(`publicUrl: https://u:${SECRET}@a.example`),
    path: 'publicUrl',
    message: /without user/,
  },
  {
    name: 'a handle authority with blanks',
    text: withServer('gatewayId: "my wharf"'),
    path: 'gatewayId',
    message: /must be 1 to 63/,
  },
  {
    name: 'a store that there is not',
    text: withServer('objects: { use: ftp }'),
    path: 'objects.use',
    message: /filesystem, .*s3/,
  },
  {
    name: 'a store without a name',
    text: withServer('objects: { path: ./x }'),
    path: 'objects.use',
    message: /one of/,
  },
  {
    name: "a folder by a shell's word for the home of the user",
    text: withServer('objects: { use: filesystem, path: ~/files }'),
    path: 'objects.path',
    message: /begins with ~, which only a shell replaces; write \$\{HOME\}, or the whole path/,
  },
  {
    name: "an audit log by a shell's variable",
    text: withServer('audit: { use: file, path: $HOME/audit.jsonl }'),
    path: 'audit.path',
    message: /begins with \$HOME, which only a shell replaces/,
  },
  {
    name: 'an S3 directory bucket',
    text: withServer('objects: { use: s3, bucket: files--use1-az4--x-s3 }'),
    path: 'objects.bucket',
    message: /directory bucket/,
  },
  ...['http://id:secret@s3:9000', 'http://s3:9000/?region=x', 'http://s3:9000/#x'].map((url) => ({
    name: `S3 at an address of which a part would be left out: ${url}`,
    text: withServer(`objects: { use: s3, bucket: abc, endpoint: "${url}" }`),
    path: 'objects.endpoint',
    message: /no user, no password, nothing behind \? or #/,
  })),
  {
    name: 'S3 without a bucket',
    text: withServer('objects: { use: s3 }'),
    path: 'objects.bucket',
    message: /is required/,
  },
  { name: 'Redis without a URL', text: withServer('state: { use: redis }'), path: 'state.url', message: /is required/ },
  {
    name: 'Redis over HTTP',
    text: withServer('state: { use: redis, url: "http://x" }'),
    path: 'state.url',
    message: /redis:\/\//,
  },
  {
    name: 'a server for a group that no caller can have',
    text: server('allow: [{ group: hr }]'),
    path: 'servers.a.allow[0].group',
    message: /never matches/,
  },
  {
    name: 'limits of a caller whose files are larger than any',
    text: withServer('callers: [{ limits: { file: 1GiB } }]'),
    path: 'callers[0].limits.file',
    message: /must not be more than limits.file/,
  },
  {
    name: 'a header of the collector with a line break',
    text: withServer('telemetry: { use: otlp, headers: { x-key: "a\\nb" } }'),
    path: 'telemetry.headers.x-key',
    message: /must not hold control characters/,
  },
  {
    name: 'a header of the collector that is not one',
    text: withServer('telemetry: { use: otlp, headers: { "x key": a } }'),
    path: 'telemetry.headers["x key"]',
    message: /must be a header name/,
  },
  {
    name: 'a rule about a name without its issuer, where callers have tokens',
    text: withServer(`publicUrl: https://mcp.example.com
auth: { use: jwt, jwt: { issuers: [{ issuer: "https://idp.example" }] } }
flow: [{ deny: { principal: "ada@*" } }]`),
    path: 'flow[0].deny.principal',
    message: /never matches: .*"https:\/\/idp\.example\|ada"/,
  },
  {
    name: 'a rule about a key, where callers have tokens',
    text: withServer(`publicUrl: https://mcp.example.com
auth: { use: jwt, jwt: { issuers: [{ issuer: "https://idp.example" }] } }
callers: [{ key: ci, limits: { files: 1 } }]`),
    path: 'callers[0].key',
    message: /never matches/,
  },
  {
    name: 'limits of a principal where all callers are one',
    text: withServer('callers: [{ principal: a, limits: { exchanges: 1 } }]'),
    path: 'callers[0].principal',
    message: /never matches/,
  },
  {
    name: 'a ceiling of what is not a limit of a caller',
    text: withServer('ceiling: { depth: 10 }'),
    path: 'ceiling.depth',
    message: /unknown|not a/,
  },
  {
    name: 'a caller with longer messages than any',
    text: withServer('callers: [{ limits: { response: 1MiB } }, { limits: { message: 1GB } }]'),
    path: 'callers[1].limits.message',
    message: /must be a size/,
  },
  {
    name: 'a host with more inline bytes than the rest',
    text: withServer('clients: [{ match: { name: desk }, limits: { inlineImage: 5MB } }]'),
    path: 'clients[0].limits.inlineImage',
    message: /must not be more than limits.inlineImage, which is 500kB/,
  },
  {
    name: 'the length of messages of a host, which is judged before it is known',
    text: withServer('clients: [{ match: { name: desk }, limits: { message: 1MiB } }]'),
    path: 'clients[0].limits.message',
    message: /unknown|not a/,
  },
  {
    name: 'more for a tool than for its server',
    text: server('limits: { file: 2MB }, tools: { t: { limits: { file: 3MB } } }'),
    path: 'servers.a.tools.t.limits.file',
    message: /must not be more than this server's limits.file, which is 2MB/,
  },
  {
    name: 'more for an argument than for its tool',
    text: server('tools: { t: { limits: { file: 2MB }, files: { f: { encoding: base64, maxSize: 3MB } } } }'),
    path: 'servers.a.tools.t.files.f.maxSize',
    message: /must not be more than this tool's limits.file, which is 2MB/,
  },
  {
    name: 'a limit for a tool that only a server can have',
    text: server('tools: { t: { limits: { inlineResource: 1MB } } }'),
    path: 'servers.a.tools.t.limits.inlineResource',
    message: /unknown|not a/,
  },
  {
    name: 'files of several tools at once',
    text: server('tools: { "t*": { files: { f: { encoding: base64 } }, limits: { file: 1MB } } }'),
    path: 'servers.a.tools["t*"].files',
    message: /is for a single tool/,
  },
  {
    name: 'no media type at all',
    text: withServer('callers: [{ limits: { accept: [] } }]'),
    path: 'callers[0].limits.accept',
    message: /must not be empty/,
  },
  {
    name: 'a flow rule that names an ending',
    text: withServer('flow: [{ allow: { to: a, types: [application/pdf, .csv] } }]'),
    path: 'flow[0].allow.types[1]',
    message: /must be a media type, such as/,
  },
  {
    name: 'an ending where media types are meant',
    text: server('limits: { accept: [.pdf] }'),
    path: 'servers.a.limits.accept[0]',
    message: /media type/,
  },
  {
    name: 'a server for a key that is not there',
    text: `${server('allow: [{ key: b }]')}\nauth: { use: apiKeys, keys: [{ name: a, hash: "${HASH}" }] }`,
    path: 'servers.a.allow[0].key',
    message: /none of auth.keys/,
  },
  {
    name: 'a key for a server that is not there',
    text: withServer(`auth: { use: apiKeys, keys: [{ name: a, hash: "${HASH}", servers: [b] }] }`),
    path: 'auth.keys[0].servers[0]',
    message: /fits no server/,
  },
  {
    name: 'a key for a tool of no server',
    text: withServer(`auth: { use: apiKeys, keys: [{ name: a, hash: "${HASH}", tools: [read] }] }`),
    path: 'auth.keys[0].tools[0]',
    message: /SERVER.TOOL/,
  },
  {
    name: 'two keys of one caller that reach different things',
    text: withServer(
      `auth: { use: apiKeys, keys: [{ name: a, hash: "${HASH}" }, { name: a, hash: "sha256:${'1'.repeat(64)}", servers: [a] }] }`,
    ),
    path: 'auth.keys[1]',
    message: /one caller/,
  },
  {
    name: 'two tools with one name',
    text: server('tools: { x: { name: z }, y: { name: z } }'),
    path: 'servers.a.tools.y.name',
    message: /the tool "x" too/,
  },
  {
    name: 'a name of a tool that hosts refuse',
    text: server('tools: { x: { name: a.b } }'),
    path: 'servers.a.tools.x.name',
    message: /1 to 64/,
  },
  {
    name: 'an authentication that there is not',
    text: withServer('auth: { use: ldap }'),
    path: 'auth.use',
    message: /none, apiKeys, jwt/,
  },
  {
    name: 'tokens of no issuer',
    text: withServer('auth: { use: jwt }'),
    path: 'auth.jwt',
    message: /is required/,
  },
  {
    name: 'an issuer over plain http beyond this machine',
    text: withServer('auth: { use: jwt, jwt: { issuers: [{ issuer: "http://idp.example.com" }] } }'),
    path: 'auth.jwt.issuers[0].issuer',
    message: /https/,
  },
  {
    name: 'an issuer that could name the callers of another',
    text: withServer('auth: { use: jwt, jwt: { issuers: [{ issuer: "https://idp.example.com/a|b" }] } }'),
    path: 'auth.jwt.issuers[0].issuer',
    message: /"\|"/,
  },
  {
    name: 'the algorithm none',
    text: withServer(
      'auth: { use: jwt, jwt: { issuers: [{ issuer: "https://idp.example.com", algorithms: [none] }] } }',
    ),
    path: 'auth.jwt.issuers[0].algorithms[0]',
    message: /RS256/,
  },
  {
    name: 'an issuer twice',
    text: withServer(
      'auth: { use: jwt, jwt: { issuers: [{ issuer: "https://idp.example.com" }, { issuer: "https://idp.example.com" }] } }',
    ),
    path: 'auth.jwt.issuers[1].issuer',
    message: /twice/,
  },
  {
    name: 'scopes of a server that there is not',
    text: withServer(
      'auth: { use: jwt, jwt: { issuers: [{ issuer: "https://idp.example.com" }], scopes: { nowhere: [x] } } }',
    ),
    path: 'auth.jwt.scopes.nowhere',
    message: /server of this file/,
  },
  {
    name: 'a list of ways in without keys',
    text: withServer('auth: { use: [apiKeys, jwt], jwt: { issuers: [{ issuer: "https://idp.example.com" }] } }'),
    path: 'auth.keys',
    message: /is required/,
  },
  {
    name: 'two servers whose login is passed through',
    text: 'servers: { a: { url: "http://127.0.0.1:1/mcp" }, b: { url: "http://127.0.0.1:2/mcp" } }\nauth: { use: passthrough }\n',
    path: 'auth.use',
    message: /exactly one server.*this file has 2/,
  },
  {
    name: 'a process whose login is passed through',
    text: 'servers: { a: { command: [node] } }\nauth: { use: passthrough }\n',
    path: 'servers.a',
    message: /Streamable HTTP/,
  },
  {
    name: 'credentials for a server whose login is passed through',
    text: `${server('upstreamAuth: { identityHeaders: { X-User: principal } }')}\nauth: { use: passthrough }`,
    path: 'servers.a.upstreamAuth',
    message: /cannot be set/,
  },
  {
    name: 'a constant Authorization for a server whose login is passed through',
    text: `${server('headers: { authorization: x }')}\nauth: { use: passthrough }`,
    path: 'servers.a.headers',
    message: /comes from the caller/,
  },
  {
    name: 'a quota of callers who have no names',
    text: withServer('auth: { use: passthrough }\nlimits: { bytesPerDay: 1GB }'),
    path: 'limits.bytesPerDay',
    message: /becomes another one by each login/,
  },
  {
    name: 'a server that allows a group of callers who have none',
    text: `${server('allow: [{ group: staff }]')}\nauth: { use: passthrough }`,
    path: 'servers.a.allow[0].group',
    message: /never matches with auth passthrough/,
  },
  {
    name: 'a way to pass a login through that there is not',
    text: withServer('auth: { use: passthrough, passthrough: { resource: both } }'),
    path: 'auth.passthrough.resource',
    message: /rewrite.*verbatim/,
  },
  {
    name: 'API keys without any',
    text: withServer('auth: { use: apiKeys, keys: [] }'),
    path: 'auth.keys',
    message: /at least one key/,
  },
  {
    name: 'a key in place of its hash',
    text: withServer(`auth: { use: apiKeys, keys: [{ name: a, hash: ${SECRET} }] }`),
    path: 'auth.keys[0].hash',
    message: /sha256/,
  },
  {
    name: 'one key of two callers',
    text: withServer(
      `auth: { use: apiKeys, keys: [{ name: a, hash: "${HASH}" }, { name: b, hash: "${HASH.toLowerCase()}" }] }`,
    ),
    path: 'auth.keys[1].hash',
    message: /also the hash of the key of "a"/,
  },
  {
    name: 'the hash of no key',
    text: withServer(
      'auth: { use: apiKeys, keys: [{ name: a, hash: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" }] }',
    ),
    path: 'auth.keys[0].hash',
    message: /empty key/,
  },
  {
    name: 'a link style',
    text: withServer('links: { style: short }'),
    path: 'links.style',
    message: /presigned, gateway/,
  },
  {
    name: 'a link longer than a signature',
    text: withServer('links: { ttl: 8d }'),
    path: 'links.ttl',
    message: /to 7d/,
  },
  { name: 'a log level', text: withServer('logLevel: trace'), path: 'logLevel', message: /debug, info, warn, error/ },
  {
    name: 'an origin with a path',
    text: withServer('allowedOrigins: ["https://a.example/x"]'),
    path: 'allowedOrigins[0]',
    message: /origin/,
  },
  {
    name: 'a fetch origin with a path',
    text: 'servers: { a: { url: "http://127.0.0.1:1/mcp", fetch: { origins: ["http://minio:9000/bucket"] } } }\n',
    path: 'servers.a.fetch.origins[0]',
    message: /origin/,
  },
  {
    name: 'a fetch origin that is Wharf’s admin port',
    text: 'adminListen: 127.0.0.1:9090\nservers: { a: { url: "http://127.0.0.1:1/mcp", fetch: { origins: ["http://localhost:9090"] } } }\n',
    path: 'servers.a.fetch.origins[0]',
    message: /Wharf's own/,
  },
  { name: 'any origin', text: withServer('allowedOrigins: ["*"]'), path: 'allowedOrigins[0]', message: /wildcards/ },
  {
    name: 'the null origin',
    text: withServer('allowedOrigins: ["null"]'),
    path: 'allowedOrigins[0]',
    message: /origin/,
  },
  { name: 'any host', text: withServer('allowedHosts: ["*"]'), path: 'allowedHosts[0]', message: /wildcards/ },
  ...['*', '*.', '*.com:x', '*.127.0.0.1', 'https://a.example', 'a.example/x', 'a*.example', 'user@a.example', ''].map(
    (host) => ({
      name: `a host to fetch from that is none: ${host}`,
      text: withServer(`fetch: { allowedHosts: [${JSON.stringify(host)}] }`),
      path: 'fetch.allowedHosts[0]',
      message: /without a scheme/,
    }),
  ),
  {
    name: 'a host with a scheme',
    text: withServer('allowedHosts: ["http://a"]'),
    path: 'allowedHosts[0]',
    message: /scheme/,
  },
  {
    name: 'a collector that there is not',
    text: withServer('telemetry: { use: jaeger }'),
    path: 'telemetry.use',
    message: /none, otlp|otlp, none/,
  },
  {
    name: 'a collector without a scheme',
    text: withServer('telemetry: { use: otlp, endpoint: "collector:4318" }'),
    path: 'telemetry.endpoint',
    message: /URL/,
  },
  {
    name: 'more than every trace',
    text: withServer('telemetry: { use: otlp, sample: 10 }'),
    path: 'telemetry.sample',
    message: /1/,
  },
];

const SERVERS: Bad[] = [
  { name: 'no servers', text: 'listen: 127.0.0.1:1', path: 'servers', message: /at least one/ },
  { name: 'an empty map of servers', text: 'servers: {}', path: 'servers', message: /at least one/ },
  { name: 'a list of servers', text: 'servers: [a]', path: 'servers', message: /map/ },
  { name: 'a server without a way to it', text: 'servers: { a: {} }', path: 'servers.a', message: /"url".*"command"/ },
  { name: 'a server that is nothing', text: 'servers: { a: }', path: 'servers.a', message: /"url".*"command"/ },
  {
    name: 'a name with capitals',
    text: 'servers: { My_Server: { url: "http://x/" } }',
    path: 'servers.My_Server',
    message: /server name/,
  },
  {
    name: 'a name that is a path of its own',
    text: 'servers: { d: { url: "http://x/" } }',
    path: 'servers.d',
    message: /Wharf's own/,
  },
  {
    name: 'a URL of files',
    text: 'servers: { a: { url: "file:///etc/passwd" } }',
    path: 'servers.a.url',
    message: /http/,
  },
  {
    name: 'a URL with a password',
    text: `servers: { a: { url: "http://u:${SECRET}@x/" } }`,
    path: 'servers.a.url',
    message: /password|credentials/,
  },
  {
    name: 'a URL with a fragment',
    text: 'servers: { a: { url: "http://x/#f" } }',
    path: 'servers.a.url',
    message: /fragment/,
  },
  {
    name: 'an unknown transport',
    text: server('transport: grpc'),
    path: 'servers.a.transport',
    message: /^must be one of: streamable-http, legacy-sse$/,
  },
  {
    name: 'a command that is empty',
    text: 'servers: { a: { command: [] } }',
    path: 'servers.a.command',
    message: /must name a program/,
  },
  {
    name: 'a command with a number',
    text: 'servers: { a: { command: [node, 1] } }',
    path: 'servers.a.command[1]',
    message: /a string/,
  },
  {
    name: 'a command and a URL',
    text: 'servers: { a: { command: [node], url: "http://x/" } }',
    path: 'servers.a.url',
    message: /not a known key beside "command": a server has one of them/,
  },
  {
    name: 'an environment with a number',
    text: 'servers: { a: { command: [node], env: { A: 1 } } }',
    path: 'servers.a.env.A',
    message: /a string/,
  },
  {
    name: 'a header that is a list',
    text: server(`headers: { Authorization: [${SECRET}] }`),
    path: 'servers.a.headers.Authorization',
    message: /a string/,
  },
  {
    name: 'a limit above the global one',
    text: server('limits: { file: 200MiB }'),
    path: 'servers.a.limits.file',
    message: /not be more than limits.file/,
  },
];

const BETWEEN: Bad[] = [
  {
    name: 'a public port without a word about it',
    text: withServer('listen: 0.0.0.0:8080\npublicUrl: https://x'),
    path: 'listen',
    message: /allowPublic: true/,
  },
  {
    name: 'a public admin port',
    text: withServer('adminListen: 0.0.0.0:9090'),
    path: 'adminListen',
    message: /never asks for a key.*adminAllowPublic: true/,
  },
  {
    name: 'a public admin port where callers have keys, which it does not ask for',
    text: withServer(
      `adminListen: 10.0.0.7:9090\nauth: { use: apiKeys, keys: [{ name: a, hash: "sha256:${'ab'.repeat(32)}" }] }`,
    ),
    path: 'adminListen',
    message: /^(?!.*auth none).*never asks for a key.*adminAllowPublic: true/,
  },
  {
    name: 'a public port without a public URL',
    text: withServer('listen: 0.0.0.0:1\nauth: { use: none, allowPublic: true }'),
    path: 'publicUrl',
    message: /is required/,
  },
  {
    name: 'one port for both',
    text: withServer('listen: 127.0.0.1:9090\nadminListen: 127.0.0.1:9090'),
    path: 'adminListen',
    message: /another port/,
  },
  {
    name: 'Redis without a secret',
    text: withServer('state: { use: redis, url: "redis://127.0.0.1" }'),
    path: 'secret',
    message: /is required with state/,
  },
  {
    name: 'a short secret',
    text: withServer('secret: hunter2'),
    path: 'secret',
    message: /at least 32 bytes/,
  },
  {
    name: 'a retention of no time',
    text: withServer('retention: 10ms'),
    path: 'retention',
    message: /from 1s/,
  },
];

describe.each([
  ['file', FILES],
  ['variables', VARIABLES],
  ['keys', KEYS],
  ['values', VALUES],
  ['servers', SERVERS],
  ['rules between values', BETWEEN],
])('a bad config is refused by name: %s (G19)', (_, table) => {
  it.each(table.map((bad) => [bad.name, bad] as const))('%s', async (_name, bad) => {
    const problems = await problemsOf(bad.text, bad.env);
    expect(problems).toContainEqual(
      expect.objectContaining({ path: bad.path, message: expect.stringMatching(bad.message) }),
    );
    expect(JSON.stringify(problems)).not.toContain(SECRET);
  });
});

describe('problems', () => {
  it('come all at once, those between sections among them', async () => {
    const text =
      'servers: { B: { command: [] } }\nlisten: 0.0.0.0:80\nlimits: { file: x, fil: 1 }\nobjects: { use: s3 }\n';
    const paths = (await problemsOf(text)).map(({ path }) => path);
    expect(paths.toSorted()).toEqual(
      [
        'limits.fil',
        'limits.file',
        'listen',
        'objects.bucket',
        'publicUrl',
        'servers.B',
        'servers.B.command',
      ].toSorted(),
    );
  });

  it('come all at once where a section has an unknown key, those between its other values among them', async () => {
    const text =
      'servers: { a: { url: http://x, acceptz: 1, limits: { file: 200MiB }, fetch: { origins: ["http://127.0.0.1:8080"] } } }\n' +
      'listen: 127.0.0.1:8080\nauth: { use: none, foo: 1 }\nadminListen: 0.0.0.0:81\nstate: { use: redis, url: redis://x, foo: 1 }\n';
    const paths = (await problemsOf(text)).map(({ path }) => path);
    expect(paths.toSorted()).toEqual([
      'adminListen',
      'auth.foo',
      'secret',
      'servers.a.acceptz',
      'servers.a.fetch.origins[0]',
      'servers.a.limits.file',
      'state.foo',
    ]);
  });

  it('come all at once where a limit of a server is none', async () => {
    const text = 'servers: { a: { url: http://x, limits: { message: x, file: 200MiB }, allow: [{ key: 5 }] } }\n';
    const paths = (await problemsOf(text)).map(({ path }) => path);
    expect(paths).toEqual(['servers.a.limits.message', 'servers.a.allow[0].key', 'servers.a.limits.file']);
  });

  it('come all at once where items of lists are wrong, those of the others at their own places', async () => {
    const hash = (digit: string) => `"sha256:${digit.repeat(64)}"`;
    const text =
      `auth: { use: apiKeys, keys: [{ name: a, hash: x }, { name: b, hash: ${hash('a')}, servers: [nosuch] }, { name: c, hash: ${hash('a')} }] }\n` +
      'flow: [5, { deny: { from: a, too: b } }, { deny: { from: nosuch } }, { deny: { to: a } }, { ask: { to: nosuch } }]\n' +
      'handoff: [{ from: a }, { from: nosuch, to: a, allow: true }]\n' +
      'callers: [{ key: 5, limits: {} }, { group: staff, limits: { requestsPerMinute: 1 } }]\n' +
      'clients: [{ match: 5 }, { match: { principal: a }, host: { nosuch: 1 }, limits: { file: 1MiB } }, { match: { name: x }, like: nosuch }, { match: { name: y }, limits: { file: 2MiB } }]\n' +
      'limits: { file: 1MiB }\n' +
      'servers: { a: { url: http://x, allow: [{ key: 5 }, { claim: { x: y } }], fetch: { origins: [x, "http://127.0.0.1:8080"] } } }\n';
    const paths = (await problemsOf(text)).map(({ path }) => path);
    expect(paths.toSorted()).toEqual(
      [
        'auth.keys[0].hash',
        'auth.keys[1].servers[0]',
        'auth.keys[2].hash',
        'callers[0].key',
        'callers[1].group',
        'clients[0].match',
        'clients[1].host.nosuch',
        'clients[2].like',
        'clients[3].limits.file',
        'flow[0]',
        'flow[1].deny.too',
        'flow[2].deny.from',
        'flow[4].ask.to',
        'handoff[0].allow',
        'handoff[0].to',
        'handoff[1].from',
        'servers.a.allow[0].key',
        'servers.a.allow[1].claim',
        'servers.a.fetch.origins[0]',
        'servers.a.fetch.origins[1]',
      ].toSorted(),
    );
  });

  it('come all at once where a list has no item that is right, those of what is around it among them', async () => {
    const text =
      'servers: { a: { url: http://x, limits: { file: 1MB, accept: [5] }, tools: { t: { files: { data: { encoding: base64, maxSize: 2MB } } } } } }';
    const paths = (await problemsOf(text)).map(({ path }) => path);
    expect(paths.toSorted()).toEqual(['servers.a.limits.accept[0]', 'servers.a.tools.t.files.data.maxSize']);
  });

  it('do not say of a name that it belongs to no key where the name of a key is not known', async () => {
    const text =
      `auth: { use: apiKeys, keys: [{ name: a, hash: x }, { name: b, hash: "sha256:${'a'.repeat(64)}" }] }\n` +
      'flow: [{ deny: { key: a } }]\nclients: [{ match: { principal: a }, like: x }]\n' +
      'servers: { s: { url: http://x, allow: [{ principal: a, key: a }] } }\n';
    const paths = (await problemsOf(text)).map(({ path }) => path);
    expect(paths.toSorted()).toEqual(['auth.keys[0].hash', 'clients[0].like']);
  });

  it('come all at once where values of a section are wrong, without those that a default would have', async () => {
    const text =
      'limits: { message: x, file: 1MiB }\nceiling: { files: x, response: 1GiB }\n' +
      'servers: { a: { url: 5, accepts: x, limits: { message: 8MiB, file: 2MiB }, allow: [{ key: k }], ' +
      'fetch: { origins: ["http://127.0.0.1:8080"] }, upstreamAuth: { perUser: { issuer: https://i.test, clientId: 5, clientSecret: s } } } }\n';
    const paths = (await problemsOf(text)).map(({ path }) => path);
    expect(paths.toSorted()).toEqual([
      'ceiling.files',
      'ceiling.response',
      'limits.message',
      'servers.a.accepts',
      'servers.a.allow[0].key',
      'servers.a.fetch.origins[0]',
      'servers.a.limits.file',
      'servers.a.upstreamAuth.perUser.clientId',
      'servers.a.url',
    ]);
  });

  it('come all at once where a variable is missing too, but for those about its own setting', async () => {
    const text = `listen: x\nsecret: \${NONE}\nlimits: { file: "\${NONE}" }\nobjects: { use: s3, bucket: "\${NONE}" }\nservers: { a: { url: x, acepts: 1 } }\n`;
    const problems = await problemsOf(text);
    expect(problems.map(({ path, message }) => [path, message.includes('NONE')])).toEqual([
      ['secret', true],
      ['limits.file', true],
      ['objects.bucket', true],
      ['listen', false],
      ['servers.a.url', false],
      ['servers.a.acepts', false],
    ]);
  });

  it('come all at once where a variable is missing, those between other values among them', async () => {
    const text =
      `secret: \${NONE}\nstate: { use: redis, url: "\${NONE}" }\nlisten: 0.0.0.0:8080\npublicUrl: \${NONE}\n` +
      `auth: { use: apiKeys, keys: [{ name: a, hash: "\${NONE}" }, { name: b, hash: "sha256:${'a'.repeat(64)}", servers: [nosuch] }] }\n` +
      'flow: [{ deny: { from: nosuch, key: a } }]\n' +
      `servers: { a: { url: "\${NONE}", headers: { x: "\${NONE}" }, allow: [{ group: g }], upstreamAuth: { perUser: { issuer: "https://i.test" } } } }\n`;
    const problems = await problemsOf(text);
    expect(problems.map(({ path, message }) => [path, message.includes('NONE')]).toSorted()).toEqual([
      ['auth.keys[0].hash', true],
      ['auth.keys[1].servers[0]', false],
      ['flow[0].deny.from', false],
      ['publicUrl', true],
      ['secret', true],
      ['servers.a.allow[0].group', false],
      ['servers.a.headers.x', true],
      ['servers.a.url', true],
      ['state.url', true],
    ]);
  });

  it.each(['[{ url: http://x }]', '{}', '5'])(
    'say nothing of names of servers where servers is %s',
    async (servers) => {
      const text =
        `servers: ${servers}\nflow: [{ deny: { from: a, group: g } }]\nhandoff: [{ from: a, to: b, allow: true }]\n` +
        `auth: { use: apiKeys, keys: [{ name: k, hash: "sha256:${'a'.repeat(64)}", servers: [a] }] }\n`;
      const paths = (await problemsOf(text)).map(({ path }) => path);
      expect(paths).toEqual(['servers', 'flow[0].deny.group']);
    },
  );

  it.each([
    ['auth.allowPublic', 'auth: { use: none, allowPublic: x }', 'key'],
    ['auth.jwt.principal', 'auth: { use: jwt, jwt: { issuers: [{ issuer: "https://i.test" }], principal: 5 } }', 'key'],
    ['auth.jwt.issuers', 'auth: { use: jwt, jwt: { issuers: x } }', 'key'],
    ['auth.jwt', 'auth: { use: jwt, jwt: x }', 'key'],
    ['auth.keys', 'auth: { use: apiKeys, keys: x }', 'group'],
    ['auth.keys', 'auth: { use: apiKeys }', 'group'],
    ['auth.passthrough.resource', 'auth: { use: passthrough, passthrough: { resource: x } }', 'key'],
  ])('come together with those about callers where %s is wrong: %s', async (wrong, auth, member) => {
    const text =
      `${auth}\nlisten: 0.0.0.0:8080\nadminListen: 0.0.0.0:9090\npublicUrl: https://w.test\nadminAllowPublic: true\n` +
      `servers: { a: { url: http://x } }\nflow: [{ deny: { from: a, ${member}: nosuch, principal: "console:ann" } }]\n`;
    const paths = (await problemsOf(text)).map(({ path }) => path);
    expect(paths).toContain(wrong);
    expect(paths).toContain(`flow[0].deny.${member}`);
    // whether it lets every caller in is not known
    expect(paths).not.toContain('listen');
  });

  it('call no name unknown that a wrong list of keys or issuers may have, and check the keys that are known', async () => {
    const flow = 'flow: [{ deny: { from: a, principal: nosuch } }]\nservers: { a: { url: http://x } }\n';
    for (const [wrong, auth] of [
      ['auth.keys', 'auth: { use: apiKeys, keys: x }'],
      ['auth.jwt.issuers', 'auth: { use: jwt, jwt: { issuers: x } }'],
      ['auth.use', 'auth: { use: x, keys: [] }'],
    ] as const)
      expect([auth, (await problemsOf(`${auth}\n${flow}`)).map(({ path }) => path)]).toEqual([auth, [wrong]]);
    const both =
      `auth: { use: [apiKeys, jwt], keys: [{ name: b, hash: "sha256:${'a'.repeat(64)}", servers: [nosuch] }], ` +
      'jwt: { issuers: [{ issuer: "https://i.test" }], clockTolerance: x } }\n';
    const paths = (await problemsOf(`${both}${flow}`)).map(({ path }) => path);
    expect(paths.toSorted()).toEqual(['auth.jwt.clockTolerance', 'auth.keys[0].servers[0]', 'flow[0].deny.principal']);
  });

  it('say of no setting that it is required because it has a wrong value', async () => {
    const text =
      'listen: 0.0.0.0:8080\npublicUrl: nonsense\nadminListen: nonsense\n' +
      `auth: { use: apiKeys, keys: [{ name: a, hash: "sha256:${'a'.repeat(64)}" }] }\n` +
      `console: { users: [{ name: ann, role: operator, hash: "sha256:${'b'.repeat(64)}" }] }\n` +
      'servers: { a: { url: http://x, upstreamAuth: { perUser: { issuer: "https://i.test" } } } }\n';
    const paths = (await problemsOf(text)).map(({ path }) => path);
    expect(paths).toEqual(['publicUrl', 'adminListen']);
  });

  it('show a plain value and never the value of a variable', async () => {
    const problems = await problemsOf(withServer(`logLevel: loud\ngatewayId: \${ID}`), { ID: `${SECRET} ` });
    expect(problems).toEqual([
      { path: 'gatewayId', message: expect.any(String), value: `"\${ID}"` },
      { path: 'logLevel', message: expect.any(String), value: '"loud"' },
    ]);
  });

  it('never show what stands under a secret name', async () => {
    const text = withServer(
      `objects: { use: s3, bucket: b, secretAccessKey: [${SECRET}], accessKeyId: { a: ${SECRET} } }`,
    );
    const problems = await problemsOf(text);
    expect(problems.length).toBeGreaterThan(1);
    expect(JSON.stringify(problems)).not.toContain(SECRET);
  });
});

describe('a config with thousands of unknown keys', () => {
  it('is told twenty of them, and how many more there are', async () => {
    const keys = Array.from({ length: 6000 }, (_value, at) => `odd${at}: 1`).join(', ');
    const problems = await problemsOf(withServer(`limits: { ${keys} }`));
    expect(problems).toHaveLength(20);
    expect(problems[0]?.path).toBe('limits.odd0');
    expect(problems[19]?.message).toMatch(/ \(and so with 5980 more keys beside it\)$/);
    expect(JSON.stringify(problems).length).toBeLessThan(50_000);
  });
});

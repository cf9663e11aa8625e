import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { adapters as shipped } from '../adapters/index.js';
import { ERROR_TABLE } from '../gateway/errors.js';
import { LIMITS, TIMEOUTS } from '../gateway/policy/limits.js';

const ROOT = join(import.meta.dirname, '..', '..');

interface SourceFile {
  /** Path from the repository's root. */
  path: string;
  text: string;
  /** Imported modules: paths from the root for our own files, package names for the rest. */
  imports: string[];
}

function sourcesBelow(folder: string): SourceFile[] {
  return (
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      // the official conformance suite is installed below test/, and is not ours
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
      .map((name) => read(join(folder, name)))
  );
}

function read(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'"]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)import\s+'([^']+)'/g,
  );
  const imports = [...found].map((match) => {
    const target = (match[1] ?? match[2] ?? match[3]) as string;
    return target.startsWith('.') ? normalize(join(dirname(path), target)).replace(/\.js$/, '') : target;
  });
  return { path, text, imports };
}

const gateway = sourcesBelow('gateway');
const adapters = sourcesBelow('adapters');
const product = [...gateway, ...adapters];
const { dialects } = shipped;

/** Imports of files in `from` that `isForbidden` names, as readable lines. */
function violations(files: SourceFile[], isForbidden: (imported: string, file: SourceFile) => boolean): string[] {
  return files.flatMap((file) =>
    file.imports.filter((target) => isForbidden(target, file)).map((target) => `${file.path} imports ${target}`),
  );
}

/** Files that import each other, by however many others: what is left when all that need none of the rest have gone. */
function circles(files: SourceFile[]): string[] {
  const withoutType = (path: string) => path.replace(/\.tsx?$/, '');
  const left = new Map(files.map(({ path, imports }) => [withoutType(path), imports]));
  let before: number;
  do {
    before = left.size;
    for (const [path, imports] of left) if (!imports.some((target) => left.has(target))) left.delete(path);
    const imported = new Set([...left.values()].flat());
    for (const path of left.keys()) if (!imported.has(path)) left.delete(path);
  } while (left.size < before);
  return [...left.keys()];
}

/** Comments may cite whom they please. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/ .*$/gm, '');
}

/** The clock, chance, the network and the process: what makes an answer depend on more than its question. */
const ASKS =
  /\b(?:Date\.now|new Date\(\)|performance\.|setTimeout|setInterval|setImmediate|Math\.random|fetch\(|process\.\w|console\.)/;

const within = (folder: string) => (file: SourceFile) => file.path.startsWith(folder);
const isOwn = (target: string) => target.startsWith('gateway/') || target.startsWith('adapters/');

/**
 * The rooms of the gateway, from the lowest: a room imports only what stands before it in this list. A room is a folder
 * with what is below it, or single files.
 */
const ROOMS: readonly (readonly [name: string, ...paths: string[]])[] = [
  ['wire', 'gateway/wire/'],
  ['policy', 'gateway/policy/'],
  ['in-sight', 'gateway/in-sight'],
  ['print', 'gateway/print'],
  ['source-frames', 'gateway/source-frames'],
  ['random', 'gateway/random'],
  ['the system', 'gateway/inherited-env', 'gateway/socket-path'],
  ['user-folders', 'gateway/user-folders'],
  ['encodings', 'gateway/encodings'],
  ['ports', 'gateway/ports/'],
  ['errors', 'gateway/errors', 'gateway/errors/'],
  ['identity', 'gateway/identity/'],
  ['hosts', 'gateway/hosts/'],
  ['explain', 'gateway/explain/'],
  ['redact', 'gateway/redact'],
  ['log', 'gateway/few-lines', 'gateway/log', 'gateway/log-writer'],
  ['budget/collections', 'gateway/budget/collections/'],
  ['budget/memory', 'gateway/budget/memory/'],
  ['budget', 'gateway/budget/'],
  ['audit', 'gateway/audit/'],
  ['json', 'gateway/json/'],
  ['schema', 'gateway/schema/'],
  ['mcp', 'gateway/mcp/'],
  ['probe', 'gateway/probe/'],
  ['config', 'gateway/config/'],
  ['tools', 'gateway/tools/'],
  ['inspect', 'gateway/inspect/'],
  ['doctor', 'gateway/doctor/'],
  ['secrets', 'gateway/secrets/'],
  ['files/names', 'gateway/files/names/'],
  ['files/encode', 'gateway/files/encode/'],
  ['files', 'gateway/files/file', 'gateway/files/shared-work', 'gateway/files/tap'],
  ['files/handles', 'gateway/files/handles/'],
  ['files/tickets', 'gateway/files/tickets/'],
  ['files/retention', 'gateway/files/retention/'],
  ['files/stored', 'gateway/files/stored/'],
  ['files/downloads', 'gateway/files/downloads/'],
  ['files/flow', 'gateway/files/flow/'],
  ['files/previews', 'gateway/files/previews/'],
  ['files/antivirus', 'gateway/files/antivirus/'],
  ['files/ingest', 'gateway/files/ingest/'],
  ['files/control', 'gateway/files/control/'],
  ['files/library', 'gateway/files/library', 'gateway/files/store-file'],
  ['files/uploads', 'gateway/files/uploads/'],
  ['quotas', 'gateway/quotas/'],
  ['upstream-auth', 'gateway/upstream-auth/'],
  ['relay/cut', 'gateway/relay/cut/'],
  [
    'relay',
    'gateway/relay/audit-exchange',
    'gateway/relay/caller',
    'gateway/relay/common-deps',
    'gateway/relay/exchange',
    'gateway/relay/exchange-log',
    'gateway/relay/open-posts',
    'gateway/relay/passed-reply',
    'gateway/relay/pending-request',
    'gateway/relay/read-post',
    'gateway/relay/reply',
    'gateway/relay/session',
    'gateway/relay/cancelled-elsewhere',
    'gateway/relay/owed-messages',
    'gateway/relay/session-table',
    'gateway/relay/unanswered',
    'gateway/relay/under-limits',
    'gateway/relay/watch',
  ],
  ['relay/client', 'gateway/relay/client/'],
  ['relay/upstream', 'gateway/relay/upstream/'],
  ['relay/tools', 'gateway/relay/tools/'],
  ['relay/arguments', 'gateway/relay/arguments/'],
  ['relay/results', 'gateway/relay/results/'],
  ['relay/local', 'gateway/relay/local/'],
  ['relay/asking', 'gateway/relay/asking/'],
  ['relay/streams', 'gateway/relay/streams/'],
  ['relay/channels', 'gateway/relay/channels/'],
  [
    'relay/server',
    'gateway/relay/by-limits',
    'gateway/relay/check-scopes',
    'gateway/relay/deps',
    'gateway/relay/limited-calls',
    'gateway/relay/own-answers',
    'gateway/relay/server',
  ],
  ['telemetry', 'gateway/telemetry/'],
  ['stdio', 'gateway/stdio/'],
  ['http', 'gateway/http/'],
  [
    'the command',
    'gateway/parts/',
    'gateway/reload/',
    ...[
      'boot',
      'cli',
      'commands/',
      'compiled-code',
      'control/',
      'descriptors',
      'ledgers',
      'main',
      'report',
      'run-stdio',
      'start',
      'unknown-words',
    ].map((name) => `gateway/${name}`),
  ],
];

/** What may use JSON.parse, by what it reads there: no object of a peer, whose keys may be escaped. */
const READ_BY_V8 = {
  'what Wharf itself has stored': [
    'gateway/http/console/audit-search.ts',
    'gateway/http/console/console-logins.ts',
    'gateway/relay/asking/put-off.ts',
    'gateway/upstream-auth/kept-registration.ts',
    'gateway/upstream-auth/kept-tokens.ts',
    'gateway/upstream-auth/logins.ts',
    'adapters/objects/filesystem/resumable.ts',
    'adapters/objects/memory/resumable.ts',
    'adapters/objects/s3/resumable.ts',
  ],
  'what comes with Wharf, or from its own process': [
    'gateway/main.ts',
    'gateway/probe/envelope.ts',
    'gateway/source-frames.ts',
    'adapters/previews/local/child.ts',
    'adapters/previews/local/process.ts',
  ],
  'one string, or a list of them': [
    'gateway/mcp/heavy-request.ts',
    'gateway/mcp/responses.ts',
    'gateway/relay/asking/rounds/wants-input.ts',
    'gateway/relay/cut/nested-json.ts',
    'gateway/relay/results/host/said-around.ts',
    'gateway/relay/results/host/unshown-blocks.ts',
    'gateway/relay/streams/live.ts',
    'gateway/relay/tools/listed-tools.ts',
    'gateway/relay/upstream/own-words.ts',
    'gateway/wire/json/members.ts',
    'gateway/wire/json/parse.ts',
    'gateway/wire/json/plain-text.ts',
    'gateway/wire/json/position.ts',
  ],
  'whether it is JSON at all': ['gateway/files/names/text-hint.ts'],
  'an address that is then checked': ['adapters/dialects/mcp-inline/argument.ts'],
  'the issuer that the config names': ['adapters/oauth/jose/http-json.ts'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Rooms that stand to the left of these and are none of theirs all the same. */
const CLOSED: Readonly<Record<string, readonly string[]>> = {
  wire: ['policy', 'encodings', 'ports', 'errors'],
  // a decision is made from numbers and facts alone
  policy: ['wire', 'ports', 'budget'],
  budget: ['wire', 'redact', 'log'],
  'budget/memory': ['wire', 'redact', 'log', 'budget/collections'],
  audit: ['wire', 'hosts', 'explain', 'log'],
  json: ['log', 'redact'],
  schema: ['budget', 'log', 'redact'],
  hosts: ['budget', 'log', 'redact', 'json', 'schema'],
  mcp: ['log', 'redact'],
  files: ['json', 'schema', 'mcp', 'config', 'tools', 'inspect', 'log', 'redact'],
  config: ['wire', 'json', 'mcp'],
  inspect: ['files', 'log'],
  quotas: ['wire', 'json', 'schema', 'mcp', 'config', 'tools', 'inspect', 'log', 'redact'],
  'relay/results': ['relay/arguments', 'config', 'inspect'],
  'relay/streams': ['relay/arguments', 'config', 'inspect'],
  'relay/asking': ['relay/upstream', 'relay/tools', 'relay/arguments', 'relay/local', 'config', 'inspect'],
  'relay/channels': ['relay/streams', 'config', 'inspect'],
  'relay/server': ['config', 'inspect'],
  telemetry: ['config', 'inspect'],
  stdio: ['config', 'inspect'],
  http: ['config', 'inspect', 'wire', 'stdio'],
};

function roomOf(path: string): number {
  const file = path.replace(/\.tsx?$/, '');
  return ROOMS.findIndex(([, ...paths]) =>
    paths.some((one) => (one.endsWith('/') ? file.startsWith(one) : file === one)),
  );
}

/** A room within another is closed with it, and has the same rooms closed, unless it has a line of its own. */
function isClosed(target: string, room: string): boolean {
  const closed = CLOSED[room] ?? CLOSED[room.replace(/\/.*/, '')] ?? [];
  return closed.some((one) => target === one || target.startsWith(`${one}/`));
}

/** Where comments are written in plain English. */
const PLAIN: readonly string[] = ['adapters/', 'gateway/'];

/** Words that CONTRIBUTING.md's rule of language excludes. "There is no …" and "is no longer" are plain English. */
const NOT_PLAIN =
  /(?<!\bthere )\b(?:is|are) no\b(?! longer)|\bis none\b|\bwhoever\b|\bnobody\b|\bsomebody\b|\btells of\b|\btold of\b|^\/\*\* The same\b/i;

/** Words that no text for people has, whether comment, page, message, description or document; they may be quoted. */
const NEVER = /(?<!["“])\b(?:nobody|somebody|anybody|whoever|any\s+more)\b/gi;

/** Where a line of a comment, or of a string in several pieces, goes on with the next. */
const GOES_ON = /(?:['`] \+)?\s*\n\s*(?:\*(?!\/)|\/\/|#|>|['`])?\s*/g;

/** Everything that is written for people: sources, their deployment, and documents. */
function textsForPeople(): { path: string; text: string }[] {
  const below = ['gateway', 'adapters', 'deploy', 'docs'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  return [...below, ...readdirSync(ROOT)]
    .filter((path) => /\.(?:tsx?|md|txt|ya?ml|sh|cjs|mjs)$|^deploy\/wharf\.schema\.json$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8').replaceAll(GOES_ON, ' ') }));
}

/** The names of tests and of what they are about, wherever they are written as one text. */
const NAMES_OF_TESTS = /(?:\b(?:it|describe)|\))\(\s*(['"`])(.*?)\1,/g;

/** The comments of a text, each on one line. */
function commentsIn(text: string): string[] {
  const found = text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*(?:\n\s*\/\/ .*)*/gm);
  return [...found].map(([comment]) => comment.replaceAll(/\s*\n\s*(?:\*|\/\/)? */g, ' '));
}

const nameOfRoom = (path: string) => ROOMS[roomOf(path)]?.[0] ?? 'none';

describe('the rooms of the gateway', () => {
  it('hold every file', () => {
    expect(gateway.filter(({ path }) => roomOf(path) < 0).map(({ path }) => path)).toEqual([]);
  });

  it.each(ROOMS.map(([name]) => name))('%s imports only what stands before it', (name) => {
    const files = gateway.filter(({ path }) => nameOfRoom(path) === name);
    expect(files.length).toBeGreaterThan(0);
    const isForbidden = (target: string, { path }: SourceFile) =>
      target.startsWith('gateway/') &&
      (roomOf(target) > roomOf(path) || roomOf(target) < 0 || isClosed(nameOfRoom(target), name));
    expect(violations(files, isForbidden)).toEqual([]);
  });

  it.each([
    ...readdirSync(join(ROOT, 'gateway/relay'))
      .filter((name) => !name.endsWith('.ts'))
      .map((room) => `gateway/relay/${room}`),
    ...['budget', 'config', 'files', 'http', 'mcp', 'parts', 'ports', 'reload', 'stdio'].map(
      (room) => `gateway/${room}`,
    ),
  ])('%s has a page that names each of its files and folders, and no other', (room) => {
    const page = readFileSync(join(ROOT, room, 'README.md'), 'utf8');
    const named = [...page.matchAll(/`([a-z-]+(?:\.ts|\/))`/g)].map(([, name]) => name);
    const entries = readdirSync(join(ROOT, room), { withFileTypes: true });
    const there = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    expect([...new Set(named)].sort()).toEqual(there.filter((name) => /\.ts$|\/$/.test(name)).sort());
  });

  it('explain their code in plain English', () => {
    const files = product.filter(({ path }) => PLAIN.some((place) => path.startsWith(place)));
    const found = files.flatMap(({ path, text }) =>
      commentsIn(text)
        .filter((comment) => NOT_PLAIN.test(comment.replace(/^\/\*\* (?:\* )?/, '/** ')))
        .map((comment) => `${path}: ${comment}`),
    );
    expect(found).toEqual([]);
  });

  it.each([
    'It is not wanted any more.',
    'Ask whoever runs it.',
    '/** It is\n * not wanted any\n * more. */',
    "'It is not wanted any ' +\n    'more.'",
  ])('are searched for excluded words past the ends of lines: %j', (text) => {
    expect(text.replaceAll(GOES_ON, ' ')).toMatch(new RegExp(NEVER, 'i'));
  });

  it('are explained, like their deployment and documents, without excluded words in what people read', () => {
    const texts = textsForPeople();
    const places = [
      'docs/reference/errors.md',
      'gateway/http/browser/texts.ts',
      'deploy/wharf.schema.json',
      'README.md',
    ];
    expect(texts.map(({ path }) => path)).toEqual(expect.arrayContaining(places));
    const found = texts.flatMap(({ path, text }) =>
      [...text.matchAll(NEVER)].map(({ index }) => `${path}: ${text.slice(Math.max(0, index - 40), index + 40)}`),
    );
    expect(found).toEqual([]);
  });

  it('are tested in sentences without excluded words', () => {
    const tests = sourcesBelow('test').filter(({ path }) => path !== 'test/architecture.test.ts');
    const saying = tests.map(({ path, text }) => {
      const names = [...text.matchAll(NAMES_OF_TESTS)].map(([, , name = '']) => name);
      return { path, names, comments: commentsIn(text) };
    });
    expect(saying.flatMap(({ names }) => names).length).toBeGreaterThan(2000);
    const found = saying.flatMap(({ path, names, comments }) =>
      [...names, ...comments].filter((text) => text.match(NEVER)).map((text) => `${path}: ${text}`),
    );
    expect(found).toEqual([]);
  });

  it('have at most 24 files each', () => {
    const folders = new Map<string, number>();
    for (const { path } of product) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
    expect([...folders].filter(([, count]) => count > 24)).toEqual([]);
  });

  it('have no two files that import each other, by however many others, types included', () => {
    expect(circles(product)).toEqual([]);
  });

  it('read the objects of peers by parseJson, since V8 misreads their escaped keys', () => {
    // a browser reads Wharf's own answers
    const served = product.filter(({ path }) => !path.startsWith('gateway/http/browser/'));
    const users = served.filter(({ text }) => withoutComments(text).includes('JSON.parse('));
    const byReason: readonly string[] = Object.values(READ_BY_V8).flat();
    expect(users.map(({ path }) => path).filter((path) => !byReason.includes(path))).toEqual([]);
    expect(byReason.filter((path) => !users.some((user) => user.path === path))).toEqual([]);
  });

  it('relay/ asks the clock port for the time', () => {
    const asks = gateway
      .filter(within('gateway/relay/'))
      .filter(({ text }) => /\b(?:Date\.now|performance\.now|new Date\(\))/.test(text));
    expect(asks.map(({ path }) => path)).toEqual([]);
  });

  it('only a reply over HTTP writes an event stream, and nothing in stdio/ reads one or looks for ids in an answer', () => {
    const writers = gateway.filter(({ imports }) => imports.includes('gateway/wire/sse/write'));
    expect(writers.map(({ path }) => path)).toEqual(['gateway/relay/client/http-reply.ts']);
    const reads = (target: string) => /^gateway\/wire\/(?:json\/reader|sse\/(?!frame))/.test(target);
    expect(violations(gateway.filter(within('gateway/stdio/')), reads)).toEqual([]);
  });

  it('wire/ imports no package and no module of Node', () => {
    expect(violations(gateway.filter(within('gateway/wire/')), (target) => !isOwn(target))).toEqual([]);
  });

  it('policy/ is pure: it does no I/O, and what it decides depends on nothing but what it is given', () => {
    const files = gateway.filter(within('gateway/policy/'));
    expect(files.length).toBeGreaterThan(10);
    expect(violations(files, (target) => !isOwn(target) && target !== 'ipaddr.js')).toEqual([]);
    const asks = files.filter(({ text }) => ASKS.test(withoutComments(text)));
    expect(asks.map(({ path }) => path)).toEqual([]);
  });

  it('ports/ hold types only: nothing that exists at run time, and no import but of types', () => {
    const files = gateway.filter(within('gateway/ports/'));
    expect(files.length).toBeGreaterThan(10);
    const found = files.filter(({ text }) =>
      /^import (?!type)|^export (?!type|interface)/m.test(withoutComments(text)),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  it('no list of a peer is put on the stack: a spread of 120,000 arguments is an error', () => {
    const serving = product.filter(({ path }) => !/^gateway\/(?:config|inspect)\//.test(path));
    const spreads = serving.flatMap(({ path, text }) =>
      [...text.matchAll(/\.(?:push|unshift|fromCharCode)\(\.\.\./g)].map(([call]) => `${path}: ${call}`),
    );
    expect(spreads.filter((spread) => !spread.startsWith('gateway/wire/add-all.ts'))).toEqual([]);
  });

  it('only main.ts knows the list of adapters, and nothing in gateway/ knows an adapter', () => {
    const outside = gateway.filter((file) => file.path !== 'gateway/main.ts');
    expect(violations(outside, (target) => target.startsWith('adapters/'))).toEqual([]);
  });

  it('what differs between revisions of MCP is asked of mcp/era.ts: nothing else compares versions or names one', () => {
    const others = product.filter(({ path }) => path !== 'gateway/mcp/era.ts');
    const questions = [
      /[vV]ersion(?: [<>]=? |\) [<>]=? )/g,
      /[<>]=? \w*[vV]ersion\b/g,
      /[<>]=? \w+_SINCE\b/g,
      /statelessVersion (?:[!=]==|\? )/g,
    ];
    const names = /(['"`])\d{4}-\d{2}-\d{2}\1/g;
    const found = others.flatMap(({ path, text }) =>
      [...questions, names].flatMap((one) =>
        [...text.replaceAll(/\/\*\*.*?\*\//gs, '').matchAll(one)].map(([what]) => `${path}: ${what}`),
      ),
    );
    expect(found).toEqual([]);
  });

  it('the core never names a dialect', () => {
    const names = readdirSync(join(ROOT, 'adapters/dialects'));
    expect(names).toContain('mcp-inline');
    for (const { path, text } of gateway)
      for (const name of names) expect([path, text.includes(`'${name}`)]).toEqual([path, false]);
  });

  it('the core knows none of the words of a dialect: its methods, capabilities, keywords and members', () => {
    const spoken = dialects.flatMap(({ methods = {}, reads = [], streaming }) => [
      ...Object.keys(methods),
      // `elicitation` is MCP's own; `files` is a word of ours as well
      ...reads.filter((capability) => capability !== 'files' && capability !== 'elicitation'),
      ...(streaming ? [streaming.method] : []),
    ]);
    const written = [
      ...['x-mcp-file', 'mcpFile', 'inputFiles', 'filenameProperty', 'maxFileSize'],
      ...['openai/', 'fileParams', 'download_url', 'file_id', 'mime_type', 'file_name'],
      ...['maxStreamSize:', 'streamable:', 'downloadUrl', 'requiredCapabilities', "algorithm !== '", "type === 'file'"],
    ];
    const words = [...new Set([...spoken, ...written])];
    expect(words).toContain('resources/stream');
    // a short word is part of many others, such as system-ui
    const says = (text: string, word: string) =>
      word.length > 2 ? text.includes(word) : new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text);
    const said = gateway.flatMap(({ path, text }) =>
      words.filter((word) => says(withoutComments(text), word)).map((word) => `${path} says ${word}`),
    );
    expect(said).toEqual([]);
  });
});

describe('hosts', () => {
  it('are data: a profile imports its type alone', () => {
    const files = adapters.filter(within('adapters/hosts/'));
    expect(files.length).toBeGreaterThan(1);
    const others = (target: string) => target !== 'gateway/ports/host' && !target.startsWith('adapters/hosts/');
    expect(violations(files, others)).toEqual([]);
  });

  it('are named nowhere in the core: it asks the profile, not who the client is', () => {
    const words = shipped.hosts.flatMap(({ name, title, match }) => [
      `'${name}`,
      `'${title}`,
      ...match.names.map((pattern) => pattern.replaceAll('*', '')).filter((text) => text.length > 3),
    ]);
    // a page that says what to paste into which host names them, and so do the examples of the command
    const core = gateway.filter(({ path }) => !/^gateway\/(?:http\/pages\/|commands\/explain-command\.ts)/.test(path));
    const said = core.flatMap(({ path, text }) =>
      words.filter((word) => withoutComments(text).includes(word)).map((word) => `${path} says ${word}`),
    );
    expect(said).toEqual([]);
  });
});

describe('adapters', () => {
  /** The folder or file that one adapter consists of: `adapters/objects/s3` for `adapters/objects/s3/writer.ts`. */
  const adapterOf = (path: string) =>
    path
      .split('/')
      .slice(0, 3)
      .join('/')
      .replace(/\.tsx?$/, '')
      .replace(/-.*$/, '');

  it('import their port, the errors, limits and file types, and nothing else of the gateway', () => {
    const allowed = [
      'gateway/ports/',
      'gateway/errors',
      'gateway/errors/system',
      'gateway/policy/limits',
      // one spelling of sizes and times in everything that people and models read
      'gateway/policy/accept',
      'gateway/policy/amounts',
      'gateway/policy/file-words',
      'gateway/policy/curl',
      // pure decisions that must not be made apart from the connection they are about
      'gateway/policy/addresses',
      // what each system gives a program, and where a process is found there
      'gateway/inherited-env',
      'gateway/socket-path',
      // or about what it opens
      'gateway/budget/memory/buffered',
      'gateway/budget/ledger',
      'gateway/budget/collections/line',
      'gateway/budget/wait-queue',
      'gateway/budget/patience',
      'gateway/budget/short-chunks',
      'gateway/budget/memory/read-memory',
      'gateway/encodings',
      // the lines of an audit log, wherever they are written
      'gateway/audit/',
      // how settings spell sizes and times
      'gateway/config/schema/fields',
      'gateway/files/file',
      'gateway/config/adapter-list',
      'gateway/wire/data-uri',
      // the bytes of HTTP
      'gateway/wire/http/',
      'gateway/wire/errors',
      // how JSON and schemas are looked into
      'gateway/json/value',
      'gateway/schema/',
      // one table of what each revision of MCP has
      'gateway/mcp/era',
    ];
    const files = adapters.filter((file) => file.path !== 'adapters/index.ts');
    expect(
      violations(
        files,
        (target) =>
          target.startsWith('gateway/') &&
          !allowed.some((prefix) => target === prefix || (prefix.endsWith('/') && target.startsWith(prefix))),
      ),
    ).toEqual([]);
  });

  it('do not import each other', () => {
    // lists, not adapters
    const files = adapters.filter(({ path }) => path !== 'adapters/index.ts' && path !== 'adapters/hosts/index.ts');
    const isForeign = (target: string, file: SourceFile) =>
      target.startsWith('adapters/') &&
      adapterOf(target) !== adapterOf(file.path) &&
      // the one HTTP client, and what the HTTP transports or all of one port share, is not an adapter
      !/^adapters\/(upstream\/)?http\//.test(target) &&
      !/^adapters\/[a-z]+\/common/.test(target);
    expect(violations(files, isForeign)).toEqual([]);
  });

  it('dialects do no I/O and read no clock', () => {
    const files = adapters.filter(within('adapters/dialects/'));
    expect(files.length).toBeGreaterThan(10);
    expect(violations(files, (target) => target.startsWith('node:'))).toEqual([]);
    expect(files.filter(({ text }) => ASKS.test(withoutComments(text))).map(({ path }) => path)).toEqual([]);
  });
});

describe('libraries stay in their place', () => {
  it.each([
    ['hono', /^(@?hono)(\/|$)/, /^gateway\/http\//],
    ['the AWS SDK', /^@(aws-sdk|smithy)\//, /^adapters\/objects\/s3/],
    ['ioredis', /^ioredis$/, /^adapters\/state\/redis/],
    ['jose', /^jose$/, /^adapters\/oauth\/jose/],
    ['sharp', /^sharp$/, /^adapters\/previews\/local\//],
    ['child processes', /^node:child_process$/, /^adapters\/(upstream\/stdio|previews\/local\/)/],
    ['prom-client', /^prom-client$/, /^gateway\/http\/metrics/],
    ['OpenTelemetry', /^@opentelemetry\//, /^adapters\/telemetry\/otlp\//],
    ['commander', /^commander$/, /^gateway\/(?:cli|commands\/|control\/files-command)/],
    ['yaml', /^yaml$/, /^gateway\/config\//],
    ['ipaddr.js', /^ipaddr\.js$/, /^gateway\/policy\/addresses/],
  ])('%s', (_name, library, place) => {
    expect(violations(product, (target, file) => library.test(target) && !place.test(file.path))).toEqual([]);
  });

  it('process.env is read in config/load, and for what comes before the program is loaded', () => {
    const readers = product.filter((file) => /process\.env\b/.test(file.text)).map((file) => file.path);
    expect(readers).toEqual(['gateway/boot.ts', 'gateway/config/load.ts']);
  });
});

describe('suites', () => {
  it('have helpers that their page names, each of them once', () => {
    const page = readFileSync(join(ROOT, 'test/helpers/README.md'), 'utf8');
    const named = [...page.matchAll(/^\| `.*$/gm)].flatMap(([row]) => [
      ...(row.split(' | ')[0] ?? '').matchAll(/`([a-z0-9-]+(?:\.fixture)?\.m?[jt]s)`/g),
    ]);
    const files = readdirSync(join(ROOT, 'test/helpers')).filter((name) => /\.m?ts$|\.mjs$/.test(name));
    expect(named.map(([, name]) => name).sort()).toEqual(files.sort());
  });

  it('hear of warnings, and of their own end, by helpers/this-process: the `process` of jest tells them nothing', () => {
    const suites = ['contract', 'e2e', 'faults', 'helpers', 'property', 'unit'].flatMap((name) =>
      sourcesBelow(join('test', name)),
    );
    expect(suites.length).toBeGreaterThan(500);
    const listening = suites.filter(({ text }) =>
      /\bprocess\.(?:on|once|addListener)\('(?:exit|warning|unhandledRejection|uncaughtException)'/.test(text),
    );
    expect(listening.map(({ path }) => path)).toEqual([]);
  });
});

describe('the shape of the source', () => {
  const lines = (file: SourceFile) => file.text.split('\n').length;

  it('no file is longer than 400 lines', () => {
    const long = product.filter((file) => lines(file) > 400);
    expect(long.map((file) => `${file.path} ${lines(file)}`)).toEqual([]);
  });

  it('half of the files are shorter than 120 lines', () => {
    const sizes = product.map(lines).sort((a, b) => a - b);
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThan(120);
  });

  it('no check is switched off', () => {
    for (const { path, text } of product) {
      expect([path, /@ts-(ignore|nocheck|expect-error)|biome-ignore|: any\b|as any\b/.test(text)]).toEqual([
        path,
        false,
      ]);
    }
  });
});

describe("ARCHITECTURE.md's tree", () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const tree = (/^## Tree\n+```\n([\s\S]*?)^```/m.exec(text)?.[1] ?? '').split('\n');

  /** What stands directly in a folder, folders with a slash. */
  const inside = (folder: string) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .sort();

  /** The first column of the lines below a folder's own. */
  const below = (folder: string) => {
    const rest = tree.slice(tree.indexOf(`${folder}/`) + 1);
    const lines = rest.slice(
      0,
      rest.findIndex((line) => !line.startsWith(' ')),
    );
    return lines.filter((line) => /^ {2}\S/.test(line)).flatMap((line) => line.trim().split(/ {2,}/, 1)[0]?.split(' '));
  };

  it.each(['gateway', 'adapters'])('names everything that stands in %s/, and nothing else', (folder) => {
    expect(below(folder).sort()).toEqual(inside(folder));
  });

  it('names every folder of test/, and nothing else', () => {
    const [, names = ''] = tree.find((line) => line.startsWith('test/'))?.split(/ {2,}/) ?? [];
    expect(names.split(' ').sort()).toEqual(inside('test').filter((name) => name.endsWith('/')));
  });
});

describe('a closed list has nothing on it that no code uses', () => {
  /** Code besides the lists themselves, what reads the config and what explains them. */
  const users = product.filter(
    ({ path }) => !/^gateway\/(?:config|explain|errors)\/|^gateway\/(?:policy\/limits|http\/metrics)\.ts$/.test(path),
  );
  const unused = (names: readonly string[], useOf: (name: string) => RegExp, from = users) => {
    const codes = from.map(({ text }) => withoutComments(text));
    return names.filter((name) => !codes.some((code) => useOf(name).test(code)));
  };
  const asMember = (name: string) => new RegExp(`\\.${name}\\b|[{,]\\s*${name}\\s*[,}:=]`);
  const asText = (name: string) => new RegExp(`'${name}'`);

  it('of limits and time-outs', () => {
    expect(unused(Object.keys({ ...LIMITS, ...TIMEOUTS }), asMember)).toEqual([]);
  });

  it('of metrics', () => {
    const port = product.find(({ path }) => path === 'gateway/ports/metrics.ts');
    const names = [...(port?.text ?? '').matchAll(/'(wharf_\w+)'/g)].map(([, name]) => String(name));
    expect(names.length).toBeGreaterThan(30);
    const others = users.filter((file) => file !== port);
    expect(unused(names, (name) => new RegExp(`'${name}`), others)).toEqual([]);
  });

  it('of errors', () => {
    const makers = product.filter(({ path }) => !path.startsWith('gateway/explain/'));
    expect(unused(Object.keys(ERROR_TABLE), asText, makers)).toEqual([]);
  });
});

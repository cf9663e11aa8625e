import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLines } from '../../helpers/audit-lines.js';
import { keyHash } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { ROOT } from '../cli-process.js';

/** One caller for each limit, which has only that one. */
const LIMITS = {
  exchanges: 1,
  uploads: 1,
  processes: 1,
  requestsPerMinute: 3,
  filesPerDay: 1,
  bytesPerDay: 1000,
  storedBytes: 1000,
  file: 1000,
  message: 2048,
  response: 2048,
  inlineArgument: 100,
  files: 1,
  filesPerArgument: 1,
  accept: ['text/csv'],
  acceptResults: ['text/csv'],
} as const;
type Name = keyof typeof LIMITS;
const NAMES = Object.keys(LIMITS) as Name[];

/** These refuse nothing: a session ends, or something becomes a link. */
const SILENT = ['sessions', 'inlineImage', 'inlineOther', 'inlineResource'];

const keyOf = (name: Name) => `${name}-0123456789`;
const wav = (bytes: number, fill: string) => ({
  type: 'audio',
  mimeType: 'audio/wav',
  data: Buffer.alloc(bytes, fill).toString('base64'),
});
const dataUri = (type: string, bytes: number) => `data:${type};base64,${Buffer.alloc(bytes, 'a').toString('base64')}`;

/** What a caller sees of a refusal. */
interface Refusal {
  status: number;
  again: number | undefined;
  text: string;
}

let folder: string;
let upstream: RecordingUpstream;
let wharf: Wharf;
let goOn: () => void;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-told-'));
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const inputSchema = {
    type: 'object',
    properties: { doc: { type: 'string' }, other: { type: 'string' }, docs: { type: 'array' } },
  };
  upstream = await RecordingUpstream.start({
    tools: [{ name: 'ocr', inputSchema }],
    methods: {
      'tools/call': async ({ arguments: args }) => {
        const { hang, give = [], text = 0 } = args as { hang?: boolean; give?: number[]; text?: number };
        if (hang) await waiting;
        const content = give.map((bytes, at) => wav(bytes, String(at)));
        return { content: [...content, { type: 'text', text: 'x'.repeat(text) }] };
      },
    },
  });
  const files = { doc: { encoding: 'base64' }, other: { encoding: 'base64' }, 'docs[]': { encoding: 'base64' } };
  wharf = await startWharf({
    servers: {
      hr: { url: upstream.url, limits: { inlineOther: 100 }, tools: { ocr: { files } } },
      local: { command: [process.execPath, `${ROOT}test/helpers/recording-stdio.fixture.mjs`] },
    },
    config: {
      audit: { use: 'file', path: join(folder, 'audit.jsonl') },
      auth: {
        use: 'apiKeys',
        keys: NAMES.map((name) => ({ name, hash: keyHash(keyOf(name)), limits: { [name]: LIMITS[name] } })),
      },
      elicitation: { identity: 'none' },
    },
  });
});

afterAll(async () => {
  goOn?.();
  await wharf?.stop();
  await upstream?.stop();
  await rm(folder, { recursive: true });
});

const again = (headers: Headers) => {
  const seconds = headers.get('retry-after');
  return seconds === null ? undefined : Number(seconds);
};

async function post(name: Name, args: Record<string, unknown>, tool = 'ocr'): Promise<Refusal> {
  const answer = await fetch(`${wharf.url}/hr/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${keyOf(name)}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } }),
  });
  return { status: answer.status, again: again(answer.headers), text: await answer.text() };
}

/** Its caller has seen the tools, so Wharf knows that one of them takes files. */
async function link(name: Name): Promise<string> {
  const client = await connect(name, 'hr');
  await client.request('tools/list');
  const { text } = (await client.call('request_file_upload')).answer;
  const url = /http[^"\\ ]+\/u\/[\w-]+/.exec(text)?.[0];
  if (url === undefined) throw new Error(text);
  return url;
}

/** What a model hears that announces a file to the tool for uploads. */
async function announce(name: Name, file: Record<string, unknown>): Promise<Refusal> {
  const client = await connect(name, 'hr');
  await client.request('tools/list');
  const { status, headers, text } = (await client.call('request_file_upload', { tool: 'ocr', ...file })).answer;
  return { status, again: again(headers), text };
}

async function put(name: Name, bytes: number, type = 'text/csv'): Promise<Refusal> {
  const body = Buffer.alloc(bytes, Math.random().toString());
  const answer = await fetch(await link(name), { method: 'PUT', body, headers: { 'content-type': type } });
  return { status: answer.status, again: again(answer.headers), text: await answer.text() };
}

const connect = (name: Name, server: string) =>
  RawClient.connect(`${wharf.url}/${server}/mcp`, '2025-06-18', {
    headers: { authorization: `Bearer ${keyOf(name)}` },
  });

const limitCount = async (name: Name) => {
  const text = await fetch(`${wharf.adminUrl}/metrics`).then((answer) => answer.text());
  return Number(new RegExp(`wharf_limits_total\\{limit="limits\\.${name}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
};
const entries = async (name: Name) => {
  const lines = await auditLines<{
    principal?: string;
    allowed?: boolean;
    rule?: string;
    code?: string;
    what?: string;
  }>(join(folder, 'audit.jsonl'));
  return lines.filter(({ principal, allowed }) => principal === name && allowed === false);
};

interface Told {
  refuse: () => Promise<Refusal>;
  status: number;
  /** Seconds of `Retry-After`; undefined: there is none. */
  again?: readonly [least: number, most: number];
  /** The limit's value and the actual one, as texts write them. */
  values: readonly RegExp[];
  /** The code, in the answer and the audit entry. */
  code: string;
  /** What the audit entry names, if that is not `limits.` and the name. */
  rule?: string;
}

const MINUTE = [1, 60] as const;
const SOON = [5, 5] as const;
const DAY = [1, 26 * 3600] as const;

const CASES: readonly (readonly [name: Name, how: string, told: Told])[] = [
  [
    'exchanges',
    'a second call at one time',
    {
      refuse: async () => {
        void post('exchanges', { hang: true });
        await until(() => upstream.lastArguments.hang === true);
        return post('exchanges', {});
      },
      status: 429,
      again: SOON,
      values: [/may have 1 request under way/, /number 2/],
      code: 'requests_limited',
    },
  ],
  [
    'uploads',
    'a second upload at one time',
    {
      refuse: async () => {
        const hanging = request(await link('uploads'), { method: 'PUT', headers: { 'content-type': 'text/csv' } });
        hanging.on('error', () => undefined);
        hanging.write('a,b\n');
        let refused = await put('uploads', 4);
        await until(async () => {
          if (refused.status < 300) refused = await put('uploads', 4);
          return refused.status >= 300;
        });
        hanging.destroy();
        return refused;
      },
      status: 429,
      again: SOON,
      values: [/may have 1 upload under way/, /number 2/],
      code: 'requests_limited',
    },
  ],
  [
    'processes',
    'a second process at a server while the first is in use',
    {
      refuse: async () => {
        const first = await connect('processes', 'local');
        const held = await first.open('tools/call', { name: 'take', arguments: { hold: true } });
        const answer = await fetch(`${wharf.url}/local/mcp`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            authorization: `Bearer ${keyOf('processes')}`,
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'initialize',
            params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
          }),
        });
        const refused = { status: answer.status, again: again(answer.headers), text: await answer.text() };
        await held.body?.cancel();
        await first.delete();
        return refused;
      },
      status: 503,
      again: SOON,
      values: [/may have 1 process/, /number 2/],
      code: 'process_limit',
    },
  ],
  [
    'requestsPerMinute',
    'one request too many in a minute',
    {
      refuse: async () => {
        for (const _ of [1, 2, 3]) await post('requestsPerMinute', {});
        return post('requestsPerMinute', {});
      },
      status: 429,
      again: MINUTE,
      values: [/may send 3 requests a minute/, /number 4/],
      code: 'rate_limited',
    },
  ],
  [
    'filesPerDay',
    'one file too many in a day',
    {
      refuse: async () => {
        await put('filesPerDay', 10);
        return put('filesPerDay', 10);
      },
      status: 429,
      again: DAY,
      values: [/"1 file may be stored/, /would be 2 files/],
      code: 'day_quota_used',
    },
  ],
  [
    'bytesPerDay',
    'more bytes than a day has',
    {
      refuse: async () => {
        await put('bytesPerDay', 600);
        return put('bytesPerDay', 600);
      },
      status: 429,
      again: DAY,
      values: [/1 kB may be stored/, /would be 1.2 kB/],
      code: 'day_quota_used',
    },
  ],
  [
    'bytesPerDay',
    'a file that no day has room for',
    {
      refuse: () => put('bytesPerDay', 2000),
      status: 429,
      values: [/1 kB may be stored/, /would be 2/],
      code: 'day_quota_used',
    },
  ],
  [
    'storedBytes',
    'more than may be kept',
    {
      refuse: async () => {
        await put('storedBytes', 600);
        return put('storedBytes', 600);
      },
      status: 507,
      again: DAY,
      values: [/may have 1 kB together/, /would have 1.2 kB/],
      code: 'storage_full',
    },
  ],
  [
    'file',
    'an upload that is too large',
    { refuse: () => put('file', 2000), status: 413, values: [/1 kB/, /2 kB/], code: 'upload_too_large' },
  ],
  [
    'file',
    'a file of an answer that is too large',
    { refuse: () => post('file', { give: [2000] }), status: 200, values: [/1 kB/, /2 kB/], code: 'file_too_large' },
  ],
  ...(['file', 'bytesPerDay', 'storedBytes'] as const).map((name): (typeof CASES)[number] => [
    name,
    'an upload that is announced and never fits',
    {
      refuse: () => announce(name, { size: 2000 }),
      status: 200,
      values: [/1 kB/, /2 kB/],
      code: 'upload_too_large',
    },
  ]),
  [
    'message',
    'a message that is too large',
    {
      refuse: () => post('message', { text: 0, note: 'x'.repeat(3000) }),
      status: 413,
      values: [/2 kB allowed/, /3\.\d kB/],
      code: 'message_too_large',
    },
  ],
  [
    'response',
    'an answer that is too large',
    {
      refuse: () => post('response', { text: 3000 }),
      status: 200,
      values: [/2 kB allowed/, /3\.\d kB/],
      code: 'response_too_large',
    },
  ],
  [
    'inlineArgument',
    'a file in a call that is too large for one',
    {
      refuse: () => post('inlineArgument', { doc: dataUri('text/csv', 200) }),
      status: 200,
      values: [/at most 100 bytes/, /200 bytes/],
      code: 'file_refused',
    },
  ],
  [
    'files',
    'a second file with a call',
    {
      refuse: () => post('files', { doc: dataUri('text/csv', 9), other: dataUri('text/csv', 9) }),
      status: 200,
      values: [/takes at most 1/, /there are 2 files/],
      code: 'file_refused',
    },
  ],
  [
    'files',
    'a second file in an answer',
    {
      refuse: () => post('files', { give: [500, 600] }),
      status: 200,
      values: [/more than 1 file: 2 or more/],
      code: 'too_many_files',
    },
  ],
  [
    'filesPerArgument',
    'a second file in an argument',
    {
      refuse: () => post('filesPerArgument', { docs: [dataUri('text/csv', 9), dataUri('text/csv', 9)] }),
      status: 200,
      values: [/takes at most 1/, /has 2 files/],
      code: 'file_refused',
    },
  ],
  [
    'accept',
    'a file of another type in a call',
    {
      refuse: () => post('accept', { doc: dataUri('application/zip', 9) }),
      status: 200,
      values: [/is application\/zip/, /text\/csv/],
      code: 'file_refused',
      rule: 'auth.keys, accept: limits.accept',
    },
  ],
  [
    'accept',
    'an upload of another type',
    {
      refuse: () => put('accept', 9, 'application/zip'),
      status: 415,
      values: [/application\/zip/, /text\/csv/],
      code: 'upload_type_refused',
      rule: 'auth.keys, accept: limits.accept',
    },
  ],
  [
    'accept',
    'an upload that is announced with another type',
    {
      refuse: () => announce('accept', { mimeType: 'application/pdf' }),
      status: 200,
      values: [/application\/pdf/, /text\/csv/],
      code: 'upload_type_refused',
      rule: 'auth.keys, accept: limits.accept',
    },
  ],
  [
    'accept',
    'an upload that a program announces with another type',
    {
      refuse: async () => {
        const client = await connect('accept', 'hr');
        const params = { mimeType: 'application/pdf' };
        const { status, headers, text } = (await client.request('files/authorizeUpload', params)).answer;
        return { status, again: again(headers), text };
      },
      status: 200,
      values: [/"message":"[^"]*application\/pdf/, /text\/csv/],
      code: 'upload_type_refused',
      rule: 'auth.keys, accept: limits.accept',
    },
  ],
  [
    'acceptResults',
    'a file of another type in a result',
    {
      refuse: () => post('acceptResults', { give: [9] }),
      status: 200,
      values: [/text\/plain, 9 bytes/, /text\/csv/],
      code: 'file_type_refused',
      rule: 'auth.keys, acceptResults: limits.acceptResults',
    },
  ],
];

describe('each limit of docs/how-to/limits.md', () => {
  it('that can refuse something has a case here', async () => {
    const page = await readFile(`${ROOT}docs/how-to/limits.md`, 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect([...new Set(named)].sort()).toEqual([...NAMES, ...SILENT].sort());
    expect([...new Set(CASES.map(([name]) => name))].sort()).toEqual([...NAMES].sort());
  });

  it.each(CASES)('%s, by %s, tells its value and the actual one, and is counted and audited', async (name, _, told) => {
    const before = await limitCount(name);
    const refused = await told.refuse();
    expect([refused.text, refused.status]).toEqual([expect.any(String), told.status]);
    if (told.again === undefined) expect(refused.again).toBeUndefined();
    else {
      const [least, most] = told.again;
      expect(refused.again).toBeGreaterThanOrEqual(least);
      expect(refused.again).toBeLessThanOrEqual(most);
    }
    for (const value of told.values) expect(refused.text).toMatch(value);
    await until(async () => (await limitCount(name)) > before);
    const rule = told.rule ?? `limits.${name}`;
    await until(async () => (await entries(name)).length > 0);
    expect(await entries(name)).toContainEqual(expect.objectContaining({ rule, code: told.code }));
  });
});

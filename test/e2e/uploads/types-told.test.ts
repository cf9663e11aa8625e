import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLines } from '../../helpers/audit-lines.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const TOOLS = {
  byServer: { files: { doc: { encoding: 'base64' } } },
  byTool: { files: { doc: { encoding: 'base64' } }, limits: { accept: ['image/png'] } },
  byArgument: { files: { doc: { encoding: 'base64', accept: ['image/png'] } } },
  ofTwo: { files: { front: { encoding: 'base64' }, back: { encoding: 'base64', accept: ['image/png'] } } },
  ofMany: { files: { 'docs[]': { encoding: 'base64' } } },
};

const text = { type: 'string' };
const schemaOf = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const DOC = schemaOf({ doc: text });
const TEXTS = { type: 'array', items: text };

const PDF = '%PDF-1.4\n%%EOF\n';
const GIF = 'GIF89a\x01\x00\x01\x00\x00\x00\x00;';

const BY_SERVER = { limit: 'limits.accept', source: 'servers.up.limits.accept' };
const BY_TOOL = { limit: 'limits.accept', source: 'servers.up.tools.byTool.limits.accept' };
const BY_ARGUMENT = { limit: 'accept of the argument' };

let folder: string;
let upstream: RecordingUpstream;
let wharf: Wharf;
let client: RawClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-types-'));
  upstream = await RecordingUpstream.start({
    tools: [
      ...['byServer', 'byTool', 'byArgument'].map((name) => ({ name, inputSchema: DOC })),
      { name: 'ofTwo', inputSchema: schemaOf({ front: text, back: text }) },
      { name: 'ofMany', inputSchema: schemaOf({ docs: TEXTS }) },
    ],
  });
  wharf = await startWharf({
    servers: { up: { url: upstream.url, limits: { accept: ['image/*'] }, tools: TOOLS } },
    config: { audit: { use: 'file', path: join(folder, 'audit.jsonl') } },
  });
  client = await RawClient.connect(wharf.mcp, '2025-06-18');
  await client.request('tools/list');
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
  await rm(folder, { recursive: true });
});

const linkIn = (answer: string) => /http[^"\\ ]+\/u\/[\w-]+/.exec(answer)?.[0] ?? answer;
const requested = async (tool: string) => linkIn((await client.call('request_file_upload', { tool })).answer.text);
const lacked = async (tool: string) => linkIn((await client.call(tool, {})).answer.text);
const put = (url: string, body: string, type: string) =>
  fetch(url, { method: 'PUT', body, headers: { 'content-type': type } });

async function send(url: string): Promise<Response> {
  return put(url, PDF, 'application/pdf');
}

async function sendByForm(url: string): Promise<Response> {
  const form = new FormData();
  form.set('file', new Blob([PDF], { type: 'application/pdf' }), 'a.pdf');
  return fetch(url, { method: 'POST', body: form, headers: { accept: 'application/json' } });
}

async function sendByTus(url: string): Promise<Response> {
  const filetype = Buffer.from('application/pdf').toString('base64');
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': '15', 'upload-metadata': `filetype ${filetype}` };
  return fetch(url, { method: 'POST', headers });
}

const counted = async (limit: string) => {
  const shown = await fetch(`${wharf.adminUrl}/metrics`).then((answer) => answer.text());
  const line = shown.split('\n').find((one) => one.startsWith(`wharf_limits_total{limit="${limit}"}`));
  return Number(line?.split(' ').at(-1) ?? 0);
};
const rules = async () => {
  const lines = await auditLines<{ code?: string; rule?: string }>(join(folder, 'audit.jsonl'));
  return lines.flatMap(({ code, rule }) => (code === 'upload_type_refused' ? [rule] : []));
};

type Named = { limit: string; source?: string };
type Case = readonly [how: string, refuse: () => Promise<Response>, by: Named];

const CASES: readonly Case[] = [
  ['a requested link, by the server', async () => send(await requested('byServer')), BY_SERVER],
  ['a requested link, in a form', async () => sendByForm(await requested('byServer')), BY_SERVER],
  ['a requested link, in pieces', async () => sendByTus(await requested('byServer')), BY_SERVER],
  ['a requested link, by a tool', async () => put(await requested('byTool'), GIF, 'image/gif'), BY_TOOL],
  ['a requested link, by an argument', async () => send(await requested('byArgument')), BY_ARGUMENT],
  ['a requested link, by one of two arguments', async () => send(await requested('ofTwo')), BY_SERVER],
  ['the link of a call without its file, by the server', async () => send(await lacked('byServer')), BY_SERVER],
  ['the link of a call without its file, by an argument', async () => send(await lacked('byArgument')), BY_ARGUMENT],
  ['the link of a call without its files', async () => sendByForm(await lacked('ofMany')), BY_SERVER],
];

describe('a file of another type than is accepted', () => {
  it.each(CASES)('is refused at %s, which the answer, the audit log and the count name', async (_, refuse, by) => {
    const before = await counted(by.limit);
    const answer = await refuse();
    expect(answer.status).toBe(415);
    const { error } = (await answer.json()) as { error: Named & { code: string } };
    const { code, limit, source } = error;
    expect({ code, limit, source }).toEqual({ code: 'upload_type_refused', ...by, source: by.source });
    await until(async () => (await counted(by.limit)) > before);
    // a line that repeats another one is written a minute later
    await until(async () => (await rules()).includes(by.source ?? by.limit));
  });

  it('is refused when it is announced, by the same list', async () => {
    const before = await counted(BY_TOOL.limit);
    const { text: told } = (await client.call('request_file_upload', { tool: 'byTool', mimeType: 'image/gif' })).answer;
    expect(told).toContain('image/gif');
    await until(async () => (await counted(BY_TOOL.limit)) > before && (await rules()).includes(BY_TOOL.source));
  });
});

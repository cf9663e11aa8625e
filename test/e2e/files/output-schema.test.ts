import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { sha256 } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { connect, overHttp } from '../../helpers/sdk-servers-transcript.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(600_000)]);
const DATA = PNG.toString('base64');
const URL_OF_DATA = `data:image/png;base64,${DATA}`;
const PICTURE = { type: 'image', mimeType: 'image/png', data: DATA };
const TEXT = { type: 'string' };
const BASE64 = { ...TEXT, contentEncoding: 'base64', contentMediaType: 'image/png' };
const object = (data: Json, rest: Json = {}): Json => ({
  type: 'object',
  properties: { data },
  required: ['data'],
  ...rest,
});

/** What clients may be given in the place of the base64: the link, nothing, or what the server said. */
type Outcome = 'link' | 'empty' | 'stays';

interface Case {
  schema: Json;
  outcome: Outcome;
  /** Another structuredContent than `{data}`. */
  value?: (text: string) => Json;
  text?: string;
  /** It stands in content as well. */
  isCopy?: boolean;
  /** The operator has named the path. */
  isConfigured?: boolean;
}

const copy = (data: Json, outcome: Outcome, rest: Partial<Case> = {}): Case => ({
  schema: object(data),
  outcome,
  isCopy: true,
  ...rest,
});
const configured = (data: Json, outcome: Outcome): Case => ({ schema: object(data), outcome, isConfigured: true });
const declared = (data: Json, outcome: Outcome, rest: Json = {}): Case => ({ schema: object(data, rest), outcome });
const LONG = { $defs: { long: { ...TEXT, minLength: 5000 } } };

const CASES: Readonly<Record<string, Case>> = {
  'a copy, any text': copy(TEXT, 'link'),
  'a copy, a URL': copy({ ...TEXT, format: 'uri' }, 'link', { text: URL_OF_DATA }),
  'a copy, longer than links': copy({ ...TEXT, minLength: 1000 }, 'stays'),
  'a copy, of base64 letters': copy({ ...TEXT, pattern: '^[A-Za-z0-9+/]*=*$' }, 'empty'),
  'a copy, of at least one': copy({ ...TEXT, pattern: '^[A-Za-z0-9+/]+=*$' }, 'stays'),
  'a copy, of data URLs': copy({ ...TEXT, pattern: '^data:' }, 'stays', { text: URL_OF_DATA }),
  'a copy, twice limited': copy({ allOf: [TEXT, { minLength: 1000 }] }, 'stays'),
  'a copy, one or the other': copy({ anyOf: [{ ...TEXT, minLength: 1000 }, { type: 'null' }] }, 'stays'),
  'a copy, a pattern that takes for ever': copy({ ...TEXT, pattern: '^([A-Za-z0-9+/=]+)+$' }, 'stays'),
  'a copy, a format of base64': copy({ ...TEXT, format: 'byte' }, 'empty'),
  'a copy, beside what is read elsewhere': {
    schema: { ...object(TEXT), properties: { data: TEXT, at: { ...TEXT, format: 'date-time' }, n: { multipleOf: 3 } } },
    value: (data) => ({ data, at: '2026-11-22T10:00:00Z', n: 9 }),
    outcome: 'link',
    isCopy: true,
  },
  'a copy, in a list of unlike items': {
    schema: {
      type: 'object',
      properties: { list: { type: 'array', items: { ...TEXT, pattern: '^[^:]*$' }, uniqueItems: true } },
    },
    value: (data) => ({ list: [data, data.replace(/=*$/, '')] }),
    outcome: 'empty',
    isCopy: true,
  },
  'configured, a URI': { ...configured({ ...TEXT, format: 'uri' }, 'link'), text: URL_OF_DATA },
  'configured, long': configured({ ...TEXT, minLength: 1000 }, 'stays'),
  'configured, of base64': configured({ ...TEXT, pattern: '^[A-Za-z0-9+/]+=*$' }, 'stays'),
  'declared, with its limits': declared({ ...BASE64, minLength: 5000, pattern: '^[A-Za-z0-9+/]+=*$' }, 'link'),
  'declared, in the alphabet for URLs': {
    ...declared({ ...TEXT, contentEncoding: 'base64url', pattern: '^[\\w-]+$' }, 'link'),
    text: PNG.toString('base64url'),
  },
  'declared, limits behind a reference': declared({ ...BASE64, $ref: '#/$defs/long' }, 'stays', LONG),
  'declared, limits beside it': declared({ allOf: [BASE64, { minLength: 5000 }] }, 'stays'),
  'declared, what is short forbidden': declared({ ...BASE64, not: { maxLength: 5000 } }, 'stays'),
  'declared, and forbidden elsewhere': declared({ ...TEXT, not: { ...BASE64, maxLength: 100 } }, 'stays'),
  'declared, or null': declared({ oneOf: [{ ...BASE64, minLength: 5000 }, { type: 'null' }] }, 'link'),
  'declared, if it is there': declared({ if: TEXT, else: false, ...BASE64 }, 'link'),
  'declared, nothing else allowed': declared(BASE64, 'link', { additionalProperties: false }),
  'declared, nothing else looked at': declared(BASE64, 'link', { unevaluatedProperties: false }),
  'declared, behind itself': {
    schema: {
      $defs: { node: object(BASE64, { properties: { data: BASE64, next: { $ref: '#/$defs/node' } } }) },
      $ref: '#/$defs/node',
      type: 'object',
    },
    outcome: 'link',
  },
  'none at all': { schema: {}, outcome: 'link', isCopy: true },
};
const NAMES = Object.keys(CASES);
const tool = (name: string) => `tool${NAMES.indexOf(name)}`;
const MODERN = '2026-07-28';
const FRESH = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' };

/** What both generations have in common. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const sdk2 = async (url: string, mode: 'legacy' | { pin: string }) => {
  const client = new Client2({ name: 'wharf-test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new Transport2(new URL(url)));
  return client as AnyClient;
};

const CLIENTS: [string, (url: string) => Promise<AnyClient>][] = [
  ['1.32', async (url) => (await connect(overHttp(url))) as AnyClient],
  ['2.4', (url) => sdk2(url, 'legacy')],
  [`2.4, of ${MODERN}`, (url) => sdk2(url, { pin: MODERN })],
];

describe('base64 in structuredContent, for clients that hold it against the outputSchema', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let isListing = true;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'server/discover': () => ({
          ...FRESH,
          supportedVersions: [MODERN],
          capabilities: { tools: {} },
          serverInfo: { name: 'recording', version: '1' },
        }),
        'tools/list': () =>
          isListing
            ? {
                ...FRESH,
                tools: NAMES.map((name) => ({
                  name: tool(name),
                  inputSchema: { type: 'object' },
                  ...(name !== 'none at all' && { outputSchema: CASES[name]?.schema }),
                })),
              }
            : undefined,
        'tools/call': ({ name }) => {
          const one = CASES[NAMES[Number(String(name).slice(4))] as string] as Case;
          const text = one.text ?? DATA;
          return {
            resultType: 'complete',
            content: one.isCopy ? [PICTURE] : [],
            structuredContent: one.value ? one.value(text) : { data: text },
          };
        },
      },
    });
    const tools = Object.fromEntries(
      NAMES.filter((name) => CASES[name]?.isConfigured).map((name) => [tool(name), { results: { files: ['data'] } }]),
    );
    wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http', tools } } });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  const texts = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : Object.values((value ?? {}) as Json).flatMap(texts);

  async function expectOutcome(name: string, structured: unknown): Promise<void> {
    const { outcome, text = DATA } = CASES[name] as Case;
    const [found = ''] = texts(structured);
    if (outcome === 'empty') expect(found).toBe('');
    else if (outcome === 'stays') expect(found).toBe(text);
    else {
      const bytes = Buffer.from(await (await fetch(found)).arrayBuffer());
      expect(sha256(bytes)).toBe(sha256(PNG));
    }
  }

  describe.each(CLIENTS)('SDK client %s', (_, start) => {
    let client: AnyClient;
    beforeAll(async () => {
      client = await start(wharf.mcp);
      await client.listTools();
    });
    afterAll(() => client.close());

    it.each(NAMES)('%s: the result is taken, and nothing is lost', async (name) => {
      const result = (await client.callTool({ name: tool(name), arguments: {} })) as Json;
      await expectOutcome(name, result.structuredContent);
    });
  });

  it('a tool that was never listed is asked for before its result is changed', async () => {
    const fresh = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
    for (const name of ['a copy, longer than links', 'a copy, any text']) {
      const client = await RawClient.connect(fresh.mcp);
      await expectOutcome(name, (await client.call(tool(name))).result?.structuredContent);
    }
    await fresh.stop();
  });

  it('where the list can no longer be had, structuredContent stays as it came', async () => {
    const fresh = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
    const client = await RawClient.connect(fresh.mcp);
    isListing = false;
    const { result } = await client.call(tool('a copy, any text'));
    isListing = true;
    expect(result?.structuredContent).toEqual({ data: DATA });
    expect(JSON.stringify(result?.content)).not.toContain(DATA.slice(0, 100));
    await fresh.stop();
  });
});

describe('structuredContent that is no object, as it may be since 2026-07-28', () => {
  const WHOLE: Record<string, { schema: Json; content?: Json[] }> = {
    declared: { schema: BASE64 },
    copied: { schema: TEXT, content: [PICTURE] },
    'any text': { schema: TEXT },
  };
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({
          ...FRESH,
          tools: Object.entries(WHOLE).map(([name, { schema: outputSchema }]) => ({
            name,
            inputSchema: { type: 'object' },
            outputSchema,
          })),
        }),
        'tools/call': ({ name }) => ({
          resultType: 'complete',
          content: WHOLE[String(name)]?.content ?? [],
          structuredContent: DATA,
        }),
      },
    });
    wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
    client = RawClient.stateless(wharf.mcp, MODERN, {});
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  it.each(['declared', 'copied'])('is the link to its file, where it is %s', async (name) => {
    const { result } = await client.call(name);
    const { 'dev.wharf/files': files = [] } = (result?._meta ?? {}) as { 'dev.wharf/files'?: Json[] };
    expect(files.at(-1)).toMatchObject({ url: result?.structuredContent, pointer: '', size: PNG.length });
    const bytes = Buffer.from(await (await fetch(String(result?.structuredContent))).arrayBuffer());
    expect(sha256(bytes)).toBe(sha256(PNG));
  });

  it('stays as it came where it may be any text', async () => {
    const { result } = await client.call('any text');
    expect(result).toEqual({ resultType: 'complete', content: [], structuredContent: DATA });
  });
});

describe('a file in structuredContent', () => {
  const REST = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`n${index}`, 1]));
  const TYPED = { mimeType: 'image/png', data: DATA };
  const CASES: [title: string, holder: Json, name: string][] = [
    ['has the name and the type beside it', { name: 'Chart.png', ...TYPED }, 'Chart.png'],
    ['has the name of a file beside it', { fileName: 'q3.png', ...TYPED }, 'q3.png'],
    ['is named after its tool without a name beside it', { title: 'Chart', ...TYPED }, 'draw-1.png'],
    ['is named after its tool in an object of many members', { name: 'Chart.png', ...REST, ...TYPED }, 'draw-1.bin'],
  ];
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    const outputSchema = { type: 'object', properties: { of: { type: 'object', properties: { data: BASE64 } } } };
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({ tools: [{ name: 'draw', inputSchema: { type: 'object' }, outputSchema }] }),
        'tools/call': ({ arguments: args }) => ({
          content: [],
          structuredContent: { of: CASES[(args as { one: number }).one]?.[1] },
        }),
      },
    });
    wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  it.each(CASES.map(([title, , name], one) => [title, name, one] as const))('%s', async (_title, name, one) => {
    const client = await RawClient.connect(wharf.mcp);
    const { result } = await client.call('draw', { one });
    const { 'dev.wharf/files': files = [] } = (result?._meta ?? {}) as { 'dev.wharf/files'?: Json[] };
    expect(files).toEqual([
      expect.objectContaining({
        name,
        mimeType: name.endsWith('.png') ? 'image/png' : 'application/octet-stream',
        pointer: '/of/data',
      }),
    ]);
  });
});

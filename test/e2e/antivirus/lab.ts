import { RecordingUpstream } from '../../helpers/recording-upstream.js';

type Json = Record<string, unknown>;

const HEAD = Buffer.from('89504e470d0a1a0a', 'hex');

/** Larger than any inline limit, with `within` in the middle. */
export const large = (within: Buffer): Buffer =>
  Buffer.concat([HEAD, Buffer.alloc(300_000, 7), within, Buffer.alloc(400_000, 9)]);

const image = (bytes: Buffer): Json => ({ type: 'image', mimeType: 'image/png', data: bytes.toString('base64') });

/** Every place in a result where a file may be, short ones and long ones. */
export const RESULTS: Readonly<Record<string, (bytes: Buffer) => Json>> = {
  image: (bytes) => ({ content: [{ type: 'text', text: 'Here it is.' }, image(bytes)] }),
  pair: (bytes) => ({ content: [image(large(Buffer.from('clean'))), image(bytes)] }),
  audio: (bytes) => ({ content: [{ ...image(bytes), type: 'audio', mimeType: 'audio/mpeg' }] }),
  resource: (bytes) => ({
    content: [{ type: 'resource', resource: { uri: 'doc://a', blob: bytes.toString('base64') } }],
  }),
  dataUri: (bytes) => ({ content: [{ type: 'text', text: `data:image/png;base64,${bytes.toString('base64')}` }] }),
  structured: (bytes) => ({ content: [], structuredContent: { file: { data: bytes.toString('base64') } } }),
  jsonText: (bytes) => ({
    content: [{ type: 'text', text: JSON.stringify({ mimeType: 'image/png', data: bytes.toString('base64') }) }],
  }),
  jsonTextEscaped: (bytes) => ({
    content: [{ type: 'text', text: `{"data":"${bytes.toString('base64').replaceAll('/', '\\/')}"}` }],
  }),
};

/** Names a resource, whose bytes Wharf reads when they are used. */
const LINK = { content: [{ type: 'resource_link', uri: 'doc://a', name: 'a' }] };

const TAKE = { name: 'take', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } };

const TAKES = { take: { files: { file: { encoding: 'base64' } } } };

/** The result of an offer of an upload. */
export interface Offered {
  structuredContent: { file: { uri: string }; upload: { url: string } };
}

/** A server that gives the bytes that it is told to, in every place, and takes files. */
export async function startServer(): Promise<{
  upstream: RecordingUpstream;
  gives(bytes: Buffer): void;
  /** Its entry in the config, with the argument that takes a file. */
  servers: { lab: Json };
}> {
  let given: Buffer = Buffer.alloc(0);
  const upstream = await RecordingUpstream.start({
    tools: [...[...Object.keys(RESULTS), 'link'].map((name) => ({ name, inputSchema: { type: 'object' } })), TAKE],
    capabilities: { resources: {} },
    methods: {
      'tools/call': ({ name }) => (name === 'link' ? LINK : (RESULTS[String(name)]?.(given) ?? { content: [] })),
      'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'image/png', blob: given.toString('base64') }] }),
    },
  });
  return {
    upstream,
    gives: (bytes) => {
      given = bytes;
    },
    servers: { lab: { url: upstream.url, transport: 'streamable-http', tools: TAKES } },
  };
}

/** The value of a counter that has these labels. */
export async function counted(adminUrl: string, outcome: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(new RegExp(`^wharf_scans_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

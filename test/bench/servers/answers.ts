import { blobChars, blobPieces, itemBytes, itemPieces } from './blob.js';
import { type PictureName, pictureText } from './picture.js';

/** A JSON-RPC message as far as the bench's servers look at it. */
export interface Message {
  id?: string | number;
  method?: string;
  params?: {
    name?: string;
    arguments?: {
      mb?: number;
      number?: number;
      text?: string;
      count?: number;
      everyMs?: number;
      picture?: PictureName;
    };
    uri?: string;
    protocolVersion?: string;
  };
}

/** A rendered answer: its length is known before its bytes are made. */
export interface Answer {
  bytes: number;
  pieces: Iterable<Buffer>;
}

const BLOB_ARGUMENTS = { type: 'object', properties: { mb: { type: 'number' }, number: { type: 'number' } } };
const MB_ARGUMENT = { type: 'object', properties: { mb: { type: 'number' } } };
const PICTURE_ARGUMENTS = { type: 'object', properties: { picture: { type: 'string' }, number: { type: 'number' } } };
const TOOLS = [
  { name: 'blob', inputSchema: BLOB_ARGUMENTS },
  { name: 'picture', inputSchema: PICTURE_ARGUMENTS },
  { name: 'items', inputSchema: MB_ARGUMENT },
  { name: 'text', inputSchema: MB_ARGUMENT },
  { name: 'flood', inputSchema: MB_ARGUMENT },
  { name: 'ticks', inputSchema: { type: 'object' } },
  { name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
];

/** `result` before `jsonrpc` and `id`, as the official SDK's server writes it. */
function whole(id: string | number, result: unknown): Answer {
  const text = Buffer.from(JSON.stringify({ result, jsonrpc: '2.0', id }));
  return { bytes: text.length, pieces: [text] };
}

function around(id: string | number, before: string, middle: Answer, after: string): Answer {
  const head = Buffer.from(`{"result":${before}`);
  const tail = Buffer.from(`${after},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`);
  function* pieces() {
    yield head;
    yield* middle.pieces;
    yield tail;
  }
  return { bytes: head.length + middle.bytes + tail.length, pieces: pieces() };
}

/** Prose: no gateway may take it for base64. */
const PROSE = Buffer.from('A line of plain prose, with a comma and a full stop. '.repeat(2048), 'latin1');

function prose(mb: number): Answer {
  const times = Math.max(1, Math.round((mb * 1e6) / PROSE.length));
  return { bytes: times * PROSE.length, pieces: Array.from({ length: times }, () => PROSE) };
}

function callTool(id: string | number, message: Message): Answer {
  const mb = message.params?.arguments?.mb ?? 1;
  switch (message.params?.name) {
    case 'blob': {
      const chars = blobChars(mb);
      const blob = { bytes: chars, pieces: blobPieces(chars, message.params?.arguments?.number) };
      return around(id, '{"content":[{"type":"image","data":"', blob, '","mimeType":"image/png"}]}');
    }
    case 'picture': {
      const { picture = 'screenshot', number = 0 } = message.params?.arguments ?? {};
      const { mimeType, ...text } = pictureText(picture, number);
      return around(id, '{"content":[{"type":"image","data":"', text, `","mimeType":"${mimeType}"}]}`);
    }
    case 'items': {
      const items = { bytes: itemBytes(mb), pieces: itemPieces(mb) };
      const before = '{"content":[{"type":"text","text":"see structuredContent"}],"structuredContent":{"items":[';
      return around(id, before, items, '{"id":0}]}}');
    }
    case 'text':
      return around(id, '{"content":[{"type":"text","text":"', prose(mb), '"}]}');
    default:
      return whole(id, { content: [{ type: 'text', text: String(message.params?.arguments?.text ?? '') }] });
  }
}

/** `bench://blob/10` is a blob of 10 MB of base64. */
function readResource(id: string | number, uri: string): Answer {
  const chars = blobChars(Number(uri.slice(uri.lastIndexOf('/') + 1)));
  const before = `{"contents":[{"uri":${JSON.stringify(uri)},"mimeType":"image/png","blob":"`;
  return around(id, before, { bytes: chars, pieces: blobPieces(chars) }, '"}]}');
}

/** The answer to a request; undefined for a notification or a response. */
export function answerTo(message: Message): Answer | undefined {
  const { id, method } = message;
  if (id === undefined || method === undefined) return undefined;
  switch (method) {
    case 'initialize':
      return whole(id, {
        protocolVersion: message.params?.protocolVersion ?? '2025-06-18',
        capabilities: { tools: {}, resources: {}, logging: {} },
        serverInfo: { name: 'fast-upstream', version: '1.0.0' },
      });
    case 'tools/list':
      return whole(id, { tools: TOOLS });
    case 'ping':
      return whole(id, {});
    case 'tools/call':
      return callTool(id, message);
    case 'resources/read':
      return readResource(id, message.params?.uri ?? '');
    default: {
      const error = { code: -32601, message: 'Method not found' };
      const text = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error }));
      return { bytes: text.length, pieces: [text] };
    }
  }
}

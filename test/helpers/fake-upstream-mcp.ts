import { type BlobSpec, base64Chunks, base64Length } from './fake-upstream-blob.js';

/**
 * A minimal MCP server as a function from message to answer, in hand-written JSON and in the key order of the official
 * SDK: `result` before `id`, `data` before `mimeType`.
 *
 * Tools:
 * - `blob {size, type?, mimeType?, count?, seed?, structured?}` answers `count` (default 1) blocks of
 *   `size` decoded bytes. `type` is `image` (default), `audio`, `resource` or `text` (a `data:` URI). Block n is
 *   generated from `seed + n`. With `structured` the first file stands in `structuredContent.data` as well.
 * - `echo {text}` answers the text.
 * - `die {code?}` exits the process (stdio only).
 * - `progress {steps}` sends `steps` progress notifications before its answer.
 *
 * Resources: `blob://<size>?seed=<n>&mimeType=<type>`; with `&typeFirst` the type stands before the blob. Prompts: `picture {size, seed?, mimeType?}`.
 */
export interface McpMessage {
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
}

/** A part of an answer: bytes as they are, or the base64 text of a generated file. */
export type Piece = Buffer | BlobSpec;

const text = (value: string): Buffer => Buffer.from(value);

export function pieceLength(piece: Piece): number {
  return Buffer.isBuffer(piece) ? piece.length : base64Length(piece);
}

export function* pieceBytes(pieces: Iterable<Piece>): Generator<Buffer> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) yield piece;
    else yield* base64Chunks(piece);
  }
}

const SERVER = { name: 'fake-upstream', version: '1.0.0' };
const CAPABILITIES = { tools: {}, resources: {}, prompts: {} };

const BLOB_TOOL = {
  name: 'blob',
  description: 'Generated files',
  inputSchema: {
    type: 'object',
    properties: {
      size: { type: 'number' },
      type: { type: 'string', enum: ['image', 'audio', 'resource', 'text'] },
      mimeType: { type: 'string' },
      count: { type: 'number' },
      seed: { type: 'number' },
      structured: { type: 'boolean' },
    },
    required: ['size'],
  },
};
const TEXT_TOOL = (name: string): object => ({ name, inputSchema: { type: 'object' } });
const TOOLS = [BLOB_TOOL, TEXT_TOOL('echo'), TEXT_TOOL('die'), TEXT_TOOL('progress')];

interface BlobArguments {
  size: number;
  type?: 'image' | 'audio' | 'resource' | 'text';
  mimeType?: string;
  count?: number;
  seed?: number;
  structured?: boolean;
}

function block(type: string, spec: BlobSpec, index: number): Piece[] {
  const mime = JSON.stringify(spec.mimeType);
  if (type === 'resource') {
    const uri = JSON.stringify(`fake://file/${index}`);
    return [text(`{"type":"resource","resource":{"uri":${uri},"blob":"`), spec, text(`","mimeType":${mime}}}`)];
  }
  if (type === 'text') return [text(`{"type":"text","text":"data:${spec.mimeType};base64,`), spec, text('"}')];
  return [text(`{"type":"${type}","data":"`), spec, text(`","mimeType":${mime}}`)];
}

function blobResult(args: BlobArguments): Piece[] {
  const type = args.type ?? 'image';
  const mimeType = args.mimeType ?? (type === 'audio' ? 'audio/wav' : 'image/png');
  const spec = (index: number): BlobSpec => ({ size: args.size, seed: (args.seed ?? 1) + index, mimeType });
  const pieces: Piece[] = [text('{"content":[')];
  for (let index = 0; index < (args.count ?? 1); index++) {
    if (index > 0) pieces.push(text(','));
    pieces.push(...block(type, spec(index), index));
  }
  if (args.structured === true) pieces.push(text('],"structuredContent":{"data":"'), spec(0), text('"}}'));
  else pieces.push(text(']}'));
  return pieces;
}

function result(message: McpMessage): Piece[] | undefined {
  const params = message.params ?? {};
  const json = (value: unknown): Piece[] => [text(JSON.stringify(value))];
  switch (message.method) {
    case 'initialize':
      return json({
        protocolVersion: params.protocolVersion ?? '2025-06-18',
        capabilities: CAPABILITIES,
        serverInfo: SERVER,
      });
    case 'ping':
      return json({});
    case 'tools/list':
      return json({ tools: TOOLS });
    case 'prompts/list':
      return json({ prompts: [{ name: 'picture', arguments: [{ name: 'size', required: true }] }] });
    case 'resources/list':
      return json({ resources: [{ uri: 'blob://1024', name: 'a generated file', mimeType: 'image/png' }] });
    case 'tools/call': {
      const args = (params.arguments ?? {}) as unknown as BlobArguments;
      if (params.name === 'blob') return blobResult(args);
      return json({ content: [{ type: 'text', text: String((args as unknown as { text?: unknown }).text ?? '') }] });
    }
    case 'resources/read': {
      const url = new URL(String(params.uri));
      const mimeType = url.searchParams.get('mimeType') ?? 'image/png';
      const spec = { size: Number(url.host), seed: Number(url.searchParams.get('seed') ?? 1), mimeType };
      if (url.searchParams.has('typeFirst')) {
        const about = `{"contents":[{"uri":${JSON.stringify(params.uri)},"mimeType":${JSON.stringify(mimeType)}`;
        return [text(`${about},"blob":"`), spec, text('"}]}')];
      }
      const head = `{"contents":[{"uri":${JSON.stringify(params.uri)},"blob":"`;
      return [text(head), spec, text(`","mimeType":${JSON.stringify(mimeType)}}]}`)];
    }
    case 'prompts/get': {
      const args = (params.arguments ?? {}) as Record<string, string>;
      const mimeType = args.mimeType ?? 'image/png';
      const spec = { size: Number(args.size), seed: Number(args.seed ?? 1), mimeType };
      return [text('{"messages":[{"role":"user","content":'), ...block('image', spec, 0), text('}]}')];
    }
    default:
      return undefined;
  }
}

/** The messages that answer one message, the last of them its response; none for a notification or a response. */
export function* mcpReplies(message: McpMessage): Generator<Piece[]> {
  if (message.id === undefined || message.method === undefined) return;
  const id = JSON.stringify(message.id);
  const args = (message.params?.arguments ?? {}) as Record<string, unknown>;
  if (message.method === 'tools/call' && message.params?.name === 'progress') {
    const token = (message.params._meta as Record<string, unknown> | undefined)?.progressToken;
    for (let step = 1; step <= Number(args.steps ?? 1); step++) {
      const params = { progressToken: token, progress: step };
      yield [text(JSON.stringify({ method: 'notifications/progress', params, jsonrpc: '2.0' }))];
    }
  }
  const answer = result(message);
  if (answer === undefined) {
    yield [text(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`)];
  } else yield [text('{"result":'), ...answer, text(`,"jsonrpc":"2.0","id":${id}}`)];
}

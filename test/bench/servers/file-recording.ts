import { createHash } from 'node:crypto';

/**
 * A stdio MCP server that takes a file of any size as base64: `take {file}` answers its size and sha-256. Nothing but
 * one chunk of the file is ever held. A message without a file is one line that is parsed.
 */

const KEY = Buffer.from('"file":"');
const QUOTE = 0x22;
const NEWLINE = 0x0a;
const TOOL = { name: 'take', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } };

interface Request {
  id?: string | number;
  method?: string;
  params?: { protocolVersion?: string };
}

function say(id: string | number, result: unknown): void {
  process.stdout.write(`${JSON.stringify({ result, jsonrpc: '2.0', id })}\n`);
}

/** Decodes base64 that comes in pieces, and hashes it. */
class Hashed {
  readonly #hash = createHash('sha256');
  #carried = '';
  #size = 0;

  take(piece: Buffer): void {
    const text = this.#carried + piece.toString('latin1');
    const whole = text.length - (text.length % 4);
    this.#carried = text.slice(whole);
    const bytes = Buffer.from(text.slice(0, whole), 'base64');
    this.#size += bytes.length;
    this.#hash.update(bytes);
  }

  end() {
    return { size: this.#size, sha256: this.#hash.digest('hex') };
  }
}

function answer(line: string, told: unknown): void {
  const { id, method, params } = JSON.parse(line) as Request;
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'file-recording', version: '1.0.0' };
    say(id, { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo });
  } else if (method === 'tools/list') say(id, { tools: [TOOL] });
  else say(id, { content: [{ type: 'text', text: JSON.stringify(told ?? {}) }] });
}

/** What has come of a line, without its file. */
let line = Buffer.alloc(0);
let file: Hashed | undefined;
let told: unknown;

process.stdin.on('data', (chunk: Buffer) => {
  let rest = chunk;
  while (rest.length > 0) {
    if (file) {
      const end = rest.indexOf(QUOTE);
      file.take(end < 0 ? rest : rest.subarray(0, end));
      if (end < 0) return;
      told = file.end();
      file = undefined;
      rest = rest.subarray(end);
    }
    const end = rest.indexOf(NEWLINE);
    line = Buffer.concat([line, end < 0 ? rest : rest.subarray(0, end)]);
    rest = end < 0 ? rest.subarray(rest.length) : rest.subarray(end + 1);
    const at = told === undefined ? line.indexOf(KEY) : -1;
    if (at >= 0) {
      // the file may go on behind this line's end only if the line has not ended
      const behind = line.subarray(at + KEY.length);
      rest = Buffer.concat(end < 0 ? [behind] : [behind, Buffer.from('\n'), rest]);
      line = line.subarray(0, at + KEY.length);
      file = new Hashed();
    } else if (end >= 0) {
      if (line.length > 0) answer(line.toString(), told);
      line = Buffer.alloc(0);
      told = undefined;
    }
  }
});

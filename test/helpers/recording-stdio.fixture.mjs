// A stdio MCP server whose tool `take {file}` says what it was given: node recording-stdio.fixture.mjs [SCHEMA]
// SCHEMA is that of `file`, as JSON.
// With `hold: true` it works on until the tool `look` is called, which tells then what has become of the file.
// A line longer than any SDK server survives is read as a stream: its `file` is base64 that is decoded and hashed.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const HELD = 16 * 1024 * 1024;
/** PATH_MAX of Linux. */
const LONGEST_PATH = 4096;
const KEY = Buffer.from('"file":"');
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const file = JSON.parse(process.argv[2] ?? '{"type":"string"}');
const tool = { name: 'take', inputSchema: { type: 'object', properties: { file } } };

/** The call that goes on until `look`. */
let working;

function describeFile(text) {
  const path = text.startsWith('file:') ? fileURLToPath(text) : text;
  const mode = (name) => (statSync(name).mode & 0o777).toString(8);
  return { path, sha256: sha256(readFileSync(path)), mode: mode(path), folderMode: mode(dirname(path)) };
}

function answer({ id, method, params }) {
  if (id === undefined) return;
  if (method === 'initialize') {
    const { protocolVersion } = params;
    say({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'recording', version: '1' } },
    });
  } else if (method === 'tools/list') say({ id, result: { tools: [tool] } });
  else if (method === 'tools/call') {
    if (params.arguments?.hold) {
      working = { id, file: params.arguments.file };
      return;
    }
    const { file } = params.name === 'look' ? working : params.arguments;
    // base64 too may begin with a slash
    const isPath = typeof file === 'string' && file.length <= LONGEST_PATH && /^(?:\/|file:)/.test(file);
    const told = isPath ? describeFile(file) : { value: file };
    const result = { content: [{ type: 'text', text: JSON.stringify(told) }] };
    if (params.name === 'look') say({ id: working.id, result });
    say({ id, result });
  } else say({ id, error: { code: -32601, message: 'Method not found' } });
}

/** A line too long to be held: everything but the string is kept, and the string is hashed. */
class LongLine {
  #hash = createHash('sha256');
  #rest = '';
  #kept = [];
  #state = 'before';
  size = 0;

  push(chunk) {
    if (this.#state === 'inside') {
      const end = chunk.indexOf(0x22);
      this.#take(end < 0 ? chunk : chunk.subarray(0, end));
      if (end < 0) return;
      this.#state = 'after';
      this.#kept.push(chunk.subarray(end));
    } else this.#kept.push(chunk);
    if (this.#state !== 'before') return;
    const held = Buffer.concat(this.#kept);
    const at = held.indexOf(KEY);
    if (at < 0) return;
    this.#state = 'inside';
    this.#kept = [held.subarray(0, at + KEY.length)];
    this.push(held.subarray(at + KEY.length));
  }

  #take(piece) {
    const text = this.#rest + piece.toString('latin1');
    const whole = text.length - (text.length % 4);
    this.#rest = text.slice(whole);
    const bytes = Buffer.from(text.slice(0, whole), 'base64');
    this.size += bytes.length;
    this.#hash.update(bytes);
  }

  end() {
    const { id } = JSON.parse(Buffer.concat(this.#kept).toString());
    const told = { size: this.size, sha256: this.#hash.digest('hex') };
    say({ id, result: { content: [{ type: 'text', text: JSON.stringify(told) }] } });
  }
}

let held = [];
let size = 0;
let long;
for await (const chunk of process.stdin) {
  let start = 0;
  while (start < chunk.length) {
    const end = chunk.indexOf(0x0a, start);
    const part = chunk.subarray(start, end < 0 ? chunk.length : end);
    if (long) long.push(part);
    else {
      held.push(part);
      size += part.length;
      if (size > HELD) {
        long = new LongLine();
        for (const earlier of held) long.push(earlier);
      }
    }
    if (end < 0) break;
    if (long) long.end();
    else if (size > 0) answer(JSON.parse(Buffer.concat(held).toString()));
    held = [];
    size = 0;
    long = undefined;
    start = end + 1;
  }
}

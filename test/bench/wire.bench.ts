/**
 * Speed of the byte machines: `node dist/test/bench/wire.bench.js`. MB are 10^6 bytes of the body; each figure is the
 * best of the rounds, since other load on the machine can only make one worse.
 */
import { Base64Decoder } from '../../gateway/wire/base64/decode.js';
import { Base64Encoder } from '../../gateway/wire/base64/encode.js';
import { createReader, type SlotSink } from '../../gateway/wire/json/reader.js';
import { compileWatchTree } from '../../gateway/wire/json/watch-tree.js';

const CHUNK = 64 * 1024;
const ROUNDS = 12;
const BODY = 16 * 1024 * 1024;

const tree = compileWatchTree({
  keys: {
    id: { capture: 'id' },
    method: { capture: 'method' },
    result: {
      watch: 'result',
      keys: {
        content: { items: { watch: 'holder', keys: { data: { slot: 'image' }, type: {} } } },
        structuredContent: { deep: 'structured' },
      },
    },
  },
});

/** A body of about `BODY` bytes around as many copies of `item` as fit. */
function around(before: string, item: string, after: string): Buffer {
  const count = Math.ceil(BODY / item.length);
  return Buffer.from(`${before}${Array(count).fill(item).join(',')}${after}`);
}

const HEAD = '{"jsonrpc":"2.0","id":1,"result":{';
const small = `{"name":"alpha","kind":"file","size":12345,"tags":["a","bc","def"],"ok":true}`;
const blob = Buffer.alloc((BODY / 4) * 3, 'binary noise of no meaning').toString('base64');
const text = 'Plain words go on and on, line after line of them, with quotes\\" here and there.\\n';

const bodies: Record<string, Buffer> = {
  'small strings, off the tree': around(`${HEAD}"tools":[`, small, ']}}'),
  'small strings, structuredContent': around(`${HEAD}"structuredContent":[`, small, ']}}'),
  'small content blocks': around(`${HEAD}"content":[`, '{"type":"text","text":"hello there"}', ']}}'),
  'long escaped text': around(`${HEAD}"text":["`, text.repeat(500), '"]}}'),
  'long plain text': around(`${HEAD}"text":["`, 'x'.repeat(100_000), '"]}}'),
  blob: Buffer.from(`${HEAD}"content":[{"type":"image","data":"${blob}"}]}}`),
};

const out = Buffer.allocUnsafe(CHUNK + 8);
const nothing: SlotSink = { write: () => {}, end: () => {} };

function decodes(): SlotSink {
  const decoder = new Base64Decoder();
  return {
    write: (chunk, start, end) => decoder.push(chunk, start, end, out, 0),
    end: () => decoder.finish(out, 0),
  };
}

function read(kind: 'json' | 'sse', body: Buffer, sink: () => SlotSink): void {
  const reader = createReader(kind, {
    tree,
    maxHeld: Number.POSITIVE_INFINITY,
    maxDepth: 1000,
    slotMin: 32 * 1024,
    handler: { slot: sink, message: (message) => message.discard() },
  });
  for (const chunk of chunks(body)) reader.feed(chunk);
  reader.end();
}

function* chunks(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += CHUNK) yield body.subarray(at, at + CHUNK);
}

function measure(name: string, bytes: number, run: () => void): void {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.cpuUsage();
    run();
    const used = process.cpuUsage(start);
    best = Math.min(best, used.user + used.system);
  }
  process.stdout.write(`${name.padEnd(44)} ${Math.round(bytes / best)} MB/s\n`);
}

for (const [name, body] of Object.entries(bodies)) {
  measure(name, body.length, () => read('json', body, () => nothing));
  const framed = Buffer.concat([Buffer.from('data: '), body, Buffer.from('\n\n')]);
  measure(`${name}, SSE`, body.length, () => read('sse', framed, () => nothing));
}

const frames = Buffer.from(
  `event: message\nid: 7\ndata: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}]}}\n\n`.repeat(
    100_000,
  ),
);
measure('small SSE frames', frames.length, () => read('sse', frames, () => nothing));
measure('blob and decode', bodies.blob?.length ?? 0, () => read('json', bodies.blob as Buffer, decodes));

const encoded: Record<string, Buffer> = {
  'decode canonical': Buffer.from(blob),
  'decode url-safe': Buffer.from(blob.replaceAll('b', '-')),
  'decode lines of 76, escaped': Buffer.from(blob.replaceAll(/.{76}/g, '$&\\n')),
  'decode with \\/': Buffer.from(blob.replaceAll('c', '\\/')),
};
for (const [name, body] of Object.entries(encoded)) {
  measure(name, body.length, () => {
    const sink = decodes();
    for (const chunk of chunks(body)) sink.write(chunk, 0, chunk.length);
    sink.end();
  });
}
const bytes = Buffer.from(blob, 'base64');
measure('encode', bytes.length, () => {
  const encoder = new Base64Encoder();
  for (const chunk of chunks(bytes)) encoder.push(chunk);
  encoder.finish();
});

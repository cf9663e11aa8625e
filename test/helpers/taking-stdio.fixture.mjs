// A stdio server that looks only at how messages are sent to it: node taking-stdio.fixture.mjs PACE FILE
// What became of each line is appended to FILE as one line of JSON, like `Taken` in taking-server.ts.
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';

const [, , pace, file] = process.argv;
const LONGEST_PARSED = 16 * 1024 * 1024;

let hash = createHash('sha256');
let bytes = 0;
let kept = [];

function isMessage() {
  if (bytes > LONGEST_PARSED) return true;
  try {
    JSON.parse(Buffer.concat(kept).toString());
    return true;
  } catch {
    return false;
  }
}

function take(part) {
  hash.update(part);
  bytes += part.length;
  if (bytes <= LONGEST_PARSED) kept.push(part);
  else kept = [];
}

function endLine(whole) {
  appendFileSync(file, `${JSON.stringify({ bytes, digest: hash.digest('hex'), whole })}\n`);
  hash = createHash('sha256');
  bytes = 0;
  kept = [];
}

if (pace === 'deaf') setInterval(() => {}, 1000);
else {
  for await (const chunk of process.stdin) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, end));
      endLine(isMessage());
      start = end + 1;
    }
    take(chunk.subarray(start));
    if (pace === 'slow') await new Promise((resolve) => setTimeout(resolve, 2));
  }
  if (bytes > 0) endLine(false);
}

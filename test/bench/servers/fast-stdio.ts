import { createInterface } from 'node:readline';
import { answerTo, type Message } from './answers.js';
import { writeAll } from './write.js';

/** The fast upstream's answers over stdio, one message per line, in the order of the requests. */

const NEWLINE = Buffer.from('\n');
let previous: Promise<void> = Promise.resolve();

createInterface({ input: process.stdin }).on('line', (line) => {
  const answer = line === '' ? undefined : answerTo(JSON.parse(line) as Message);
  if (!answer) return;
  previous = previous.then(async () => {
    await writeAll(process.stdout, answer.pieces);
    await writeAll(process.stdout, [NEWLINE]);
  });
});

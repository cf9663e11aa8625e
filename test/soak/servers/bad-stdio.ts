/** A hostile MCP server over stdio. What it does is the name of the tool called. */
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { LINE_ANSWERS, type Outlet, opening } from './bad-answers.js';

const NICE = 10;
const names = [...Object.keys(LINE_ANSWERS), 'silent'];

setPriority(NICE);

const outlet: Outlet = {
  isOpen: true,
  write: (bytes) =>
    new Promise((resolve) => {
      process.stdout.write(bytes, () => resolve());
    }),
};

let last = Promise.resolve();
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as { id?: unknown; method?: string; params?: { name?: string } };
  if (id === undefined || method === undefined) continue;
  const text = JSON.stringify(id);
  const name = method === 'tools/call' ? (params?.name ?? '') : '';
  if (name === 'silent') continue;
  // one line at a time: two answers in one another would be no lines at all
  last = last.then(async () => {
    const answer = LINE_ANSWERS[name];
    if (answer) await answer(outlet, text);
    else await outlet.write(`${opening(method, text, names, false)}\n`);
  });
}

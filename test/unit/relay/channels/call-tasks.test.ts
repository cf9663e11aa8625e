import { describe, expect, it } from '@jest/globals';
import { CallTasks } from '../../../../gateway/relay/channels/calls/call-tasks.js';
import { createReader, type HeldMessage } from '../../../../gateway/wire/json/reader.js';
import { call, RelayLab } from '../relay-lab.js';

const lab = new RelayLab();
const ME = 'me';

function ended(taskId: string): HeldMessage {
  const messages: HeldMessage[] = [];
  const handler = { message: (message: HeldMessage) => messages.push(message) };
  const reader = createReader('lines', { tree: lab.deps.cut.tree, handler });
  const params = { taskId, status: 'completed' };
  reader.feed(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tasks/status', params })}\n`));
  return messages[0] as HeldMessage;
}

function channel(abandoned = 10) {
  const tasks = new CallTasks({ ...lab.deps, limits: { ...lab.deps.limits, abandoned } });
  /** A call with files: `become` is its answer, which creates the task. */
  const begin = (id: string) => {
    const seen = { removed: 0 };
    const remove = async () => {
      seen.removed += 1;
    };
    const files = tasks.filesOf([id], remove);
    const [request] = tasks.watched([call(id)], files, ME);
    const become = async (taskId: string) => {
      request?.becameTask?.(taskId);
      await files.over([id]);
    };
    return { seen, become };
  };
  return { tasks, begin };
}

describe('a task that its server says is over', () => {
  it('needs no files when that comes before the answer that creates it (BR-20)', async () => {
    const { tasks, begin } = channel();
    const [one, two] = [begin('1'), begin('2')];
    tasks.heard(ended('t1'), ME);
    await one.become('t1');
    await two.become('t2');
    expect([one.seen.removed, two.seen.removed]).toEqual([1, 0]);
    await tasks.end();
  });

  it("is another caller's where that has the same id", async () => {
    const { tasks, begin } = channel();
    const one = begin('1');
    tasks.heard(ended('t1'), 'another');
    await one.become('t1');
    expect(one.seen.removed).toBe(0);
    await tasks.end();
  });

  it('is known for that only as long as a call with files runs, and not with more of them than `limits.abandoned`', async () => {
    const { tasks, begin } = channel(2);
    tasks.heard(ended('t0'), ME);
    const one = begin('1');
    for (const id of ['t1', 't2', 't3']) tasks.heard(ended(id), ME);
    const others = ['2', '3', '4'].map(begin);
    await one.become('t1');
    await others[0]?.become('t2');
    await others[1]?.become('t3');
    await others[2]?.become('t0');
    expect([one, ...others].map(({ seen }) => seen.removed)).toEqual([0, 1, 1, 0]);
    await tasks.end();
  });

  it('is forgotten with the last file that one could keep', async () => {
    const { tasks, begin } = channel();
    const one = begin('1');
    tasks.heard(ended('t2'), ME);
    tasks.heard(ended('t1'), ME);
    await one.become('t1');
    const two = begin('2');
    await two.become('t2');
    expect([one.seen.removed, two.seen.removed]).toEqual([1, 0]);
    await tasks.end();
  });
});

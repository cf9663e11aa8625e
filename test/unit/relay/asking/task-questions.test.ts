import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../../adapters/state/memory.js';
import { UNSHARED } from '../../../../gateway/budget/ledger.js';
import type { StateStore } from '../../../../gateway/ports/state-store.js';
import { type TaskQuestion, TaskQuestions } from '../../../../gateway/relay/asking/tasks/task-questions.js';
import { StateKeys } from '../../../../gateway/secrets/state-keys.js';

const OLD = 'the secret that was there before, and has been replaced';
const NEW = 'the secret that takes its place, and seals what is new';
const task = { principal: 'ann', server: 'docs', taskId: 'a' };
const question = (key: string): TaskQuestion => ({
  key,
  dialect: 'sep-1306',
  message: 'the scan.',
  files: [],
  besides: { properties: {}, required: [] },
});
const add = (key: string) => async (before: readonly TaskQuestion[]) => [...before, question(key)];

let state: StateStore;
let now: number;

beforeEach(() => {
  now = 1_000_000;
  state = create(settings.parse({}), { sharing: UNSHARED, clock: { ticks: () => now } });
});

afterEach(() => state.close());

const questionsBy = (...secrets: string[]) =>
  new TaskQuestions({ state, keys: new StateKeys(secrets), clock: { now: () => now } });
const keysOf = async (questions: TaskQuestions, of = task) => (await questions.read(of)).map(({ key }) => key);

describe('the questions of a task', () => {
  it('are those of one caller, server and task', async () => {
    const questions = questionsBy(NEW);
    await questions.change(task, add('scan'), 1000);
    expect(await keysOf(questions)).toEqual(['scan']);
    for (const other of [{ principal: 'bob' }, { server: 'other' }, { taskId: 'b' }])
      expect(await keysOf(questions, { ...task, ...other })).toEqual([]);
  });

  it('keep both of two changes at one time', async () => {
    const questions = questionsBy(NEW);
    await Promise.all([questions.change(task, add('one'), 1000), questions.change(task, add('two'), 1000)]);
    expect((await keysOf(questions)).sort()).toEqual(['one', 'two']);
    await Promise.all([questions.change(task, add('three'), 1000), questions.change(task, add('four'), 1000)]);
    expect(await keysOf(questions)).toHaveLength(4);
  });

  it('are found by a replica with a newer secret', async () => {
    await questionsBy(OLD).change(task, add('one'), 1000);
    const newer = questionsBy(NEW, OLD);
    await newer.change(task, add('two'), 1000);
    expect(await keysOf(newer)).toEqual(['one', 'two']);
    expect(await keysOf(questionsBy(NEW))).toEqual([]);
  });

  it('last as long as their links, or as long as they must', async () => {
    const questions = questionsBy(NEW);
    await questions.change(task, add('scan'), 1000);
    now += 900;
    await questions.change(task, async () => undefined, 1000);
    now += 200;
    expect(await keysOf(questions)).toEqual([]);
  });

  it('are forgotten once', async () => {
    const questions = questionsBy(NEW);
    await questions.change(task, add('scan'), 1000);
    const taken = await Promise.all([questions.take(task), questions.take(task)]);
    expect(taken.flat().map(({ key }) => key)).toEqual(['scan']);
    expect(await questions.take(task)).toEqual([]);
  });

  it('leave nothing behind when the last of them is gone', async () => {
    const questions = questionsBy(NEW);
    await questions.change(task, add('scan'), 60_000);
    await questions.change(task, async () => [], 60_000);
    now += 2;
    expect(await state.read(new StateKeys([NEW]).of('input', JSON.stringify(['docs', 'ann', 'a'])))).toBeUndefined();
  });
});

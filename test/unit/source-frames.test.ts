import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { redactedMembers } from '../../gateway/redact.js';
import { stackInSources } from '../../gateway/source-frames.js';
import { ROOT } from '../helpers/tree-copy.js';

const FOLDER = new URL('../../gateway/', import.meta.url).href;
const FAKE = `    at f (${FOLDER}redact.js:1:1)`;

/** An error whose first frame of Wharf's own is one of `gateway/`. */
function thrownInside(): Error {
  try {
    redactedMembers({
      toString: undefined,
      get value(): never {
        throw new TypeError(`out of a getter\n${FAKE}`);
      },
    });
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
}

describe('a stack in the log', () => {
  it('says where its frames are in the sources', () => {
    const stack = stackInSources(thrownInside());
    const [, file = '', line = ''] = /(gateway\/redact\.ts):(\d+):\d+/.exec(stack) ?? [];
    expect(file).toBe('gateway/redact.ts');
    expect(readFileSync(join(ROOT, file), 'utf8').split('\n')[Number(line) - 1]).toMatch(/\S/);
  });

  it('keeps the message, and whatever looks like a frame in it, as it is', () => {
    const error = thrownInside();
    expect(stackInSources(error).startsWith(`TypeError: ${error.message}\n    at `)).toBe(true);
  });

  it('stays as it is when its first lines are not the name and the message', () => {
    const error = thrownInside();
    error.message = 'changed later';
    expect(stackInSources(error)).toBe(error.stack);
  });

  it('keeps frames of other programs, and those without a map', () => {
    const stack = `Error: x\n    at a (node:fs:1:1)\n    at b (${FOLDER}not-there.js:3:4)\n    at c (${FOLDER}sub)`;
    expect(stackInSources({ name: 'Error', message: 'x', stack })).toBe(stack);
  });

  it('may have a code behind its name, and no message', () => {
    const coded = { name: 'Error', message: 'seen', stack: `Error [ERR_SEEN]: seen\n${FAKE}` };
    expect(stackInSources(coded)).toBe('Error [ERR_SEEN]: seen\n    at f (gateway/redact.ts:1:1)');
    const bare = { name: 'Error', message: '', stack: `Error\n${FAKE}` };
    expect(stackInSources(bare)).toBe('Error\n    at f (gateway/redact.ts:1:1)');
  });

  it('is of an error without a stack empty', () => {
    expect(stackInSources({ name: 'Error', message: 'x' })).toBe('');
  });

  it('is in the sources in a line of the log as well', () => {
    const error = new Error('seen');
    error.stack = `Error: seen\n${FAKE}`;
    expect(redactedMembers({ error })).toContain('at f (gateway/redact.ts:1:1)');
  });

  // the last test, since the places stay known
  it('keeps frames as they are from the two thousandth place on', () => {
    const stack = (column: number) => `Error: x\n    at f (${FOLDER}nowhere.js:1:${column})`;
    for (let column = 1; column <= 2000; column += 1)
      stackInSources({ name: 'Error', message: 'x', stack: stack(column) });
    const late = `Error: x\n    at f (${FOLDER}redact.js:2:1)`;
    expect(stackInSources({ name: 'Error', message: 'x', stack: late })).toBe(late);
  });
});

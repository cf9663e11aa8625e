import { describe, expect, it } from '@jest/globals';
import { advised, isRefusal, withoutValues } from '../../../adapters/state/redis-words.js';
import { adviceIn } from '../../../gateway/errors/causes.js';

describe('what Redis says', () => {
  it.each([
    ['WRONGPASS invalid username-password pair or user is disabled.', 'WRONGPASS', true],
    ['NOAUTH Authentication required.', 'NOAUTH', true],
    ["NOPERM this user has no permissions to run the 'get' command", 'NOPERM', true],
    [
      "ERR The user executing the script can't run this command or subcommand script: @user_script: 1: x",
      undefined,
      true,
    ],
    ["READONLY You can't write against a read only replica.", 'READONLY', false],
    ['NOREPLICAS Not enough good replicas to write.', 'NOREPLICAS', false],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'OOM', false],
    ['ERR DB index is out of range', undefined, false],
    ['The connection was closed.', undefined, false],
  ])('%s: its code, and whether time does not help', (text, code, isLasting) => {
    const said = withoutValues(new Error(text));
    expect([(said as { code?: string }).code, isRefusal(said)]).toEqual([code, isLasting]);
  });

  it.each([
    ["READONLY You can't write against a read only replica.", /state\.url must lead to the primary/],
    ['NOREPLICAS Not enough good replicas to write.', /min-replicas-to-write.*must lead to the new one/],
    ['ERR DB index is out of range', /number of a database/],
    ['MISCONF Redis is configured to save RDB snapshots', /make room/],
  ])('%s: what to do', (text, todo) => {
    const told = advised(withoutValues(new Error(text)));
    expect(adviceIn([told])).toMatch(todo);
    expect(withoutValues(told)).toBe(told);
  });
});

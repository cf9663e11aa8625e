import { describe, expect, it } from '@jest/globals';
import { configOf, problemsOf } from './load-text.js';

const SERVER = 'servers: { a: { url: "http://127.0.0.1:1/mcp" } }\n';
const limited = (principal: string) =>
  `${SERVER}callers: [{ principal: "${principal}", limits: { requestsPerMinute: 6 } }]\n`;

describe('a rule about operators who try tools', () => {
  it('holds also where all callers of the public port are one', async () => {
    const { callers } = await configOf(limited('console:*'));
    expect(callers).toMatchObject([{ match: { principal: 'console:*' } }]);
    expect(await problemsOf(limited('ann'))).toMatchObject([
      { path: 'callers[0].principal', message: expect.stringContaining('never matches') },
    ]);
  });
});

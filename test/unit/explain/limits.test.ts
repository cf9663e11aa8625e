import { describe, expect, it } from '@jest/globals';
import { explainLimits } from '../../../gateway/explain/limits.js';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';
import { ToolLimits } from '../../../gateway/policy/tool-limits.js';

const GLOBAL = { ...DEFAULT_LIMITS, response: 8_000_000, file: 2_000_000 };
const isSet = (path: string) => path === 'limits.response';
const SERVER = { name: 'hr', limits: { ...GLOBAL, file: 1_000_000 }, global: GLOBAL, isSet };

const told = (...asked: Parameters<typeof explainLimits>) =>
  explainLimits(...asked)
    .trimEnd()
    .split('\n');

describe('what is said about the limits of a caller', () => {
  it('is each value with the place that sets it, and what the ceiling has lowered', () => {
    const rules = {
      ceiling: { requestsPerMinute: 100 },
      base: { requestsPerMinute: 60, exchanges: 5 },
      callers: [{ match: { group: 'hr' }, limits: { requestsPerMinute: 500, storedBytes: 2_000_000, sessions: 3 } }],
      keys: new Map(),
    };
    expect(told({ groups: ['hr'] }, rules, SERVER)).toEqual(
      expect.arrayContaining([
        'Its limits:',
        '  exchanges: 5 requests under way at one time, on each replica, by limits.exchanges',
        '  requestsPerMinute: 100 requests a minute, by ceiling.requestsPerMinute; callers[0].limits.requestsPerMinute would allow 500 requests a minute',
        '  uploads: not limited',
        '  sessions: 3 sessions at one time, on each replica, by callers[0].limits.sessions',
        '  file: 1MB in a file, by servers.hr.limits.file',
        '  response: 8MB in a message of the server without its files, by limits.response',
        '  storedBytes: 2MB kept at one time, by callers[0].limits.storedBytes',
        '  accept: every type of file',
        '  acceptResults: every type of file',
      ]),
    );
  });

  it('spells sizes in the units of the config', () => {
    const rules = { ceiling: {}, base: {}, callers: [], keys: new Map() };
    const limits = { ...DEFAULT_LIMITS, message: 4 * 2 ** 20, file: 100_000_000 };
    expect(told({ groups: [] }, rules, { name: 'hr', limits, global: limits, isSet: () => true })).toEqual(
      expect.arrayContaining([
        '  message: 4MiB in a message without its files, by limits.message',
        '  file: 100MB in a file, by limits.file',
      ]),
    );
  });

  it('says of a default that it is one, and where it would be set', () => {
    const rules = { ceiling: {}, base: {}, callers: [], keys: new Map() };
    expect(told({ groups: [] }, rules, SERVER)).toEqual(
      expect.arrayContaining([
        '  message: 4MiB in a message without its files, by default (limits.message)',
        '  response: 8MB in a message of the server without its files, by limits.response',
      ]),
    );
  });

  it('says what is set for the caller and does not count, because a more specific place sets it too', () => {
    const rules = {
      ceiling: { file: 500_000 },
      base: { requestsPerMinute: 60 },
      callers: [
        { match: {}, limits: { requestsPerMinute: 5, file: 1000 } },
        { match: { key: 'other' }, limits: { requestsPerMinute: 1 } },
      ],
      keys: new Map([['ci', { requestsPerMinute: 600, file: 900_000 }]]),
    };
    expect(told({ key: 'ci', groups: [] }, rules, SERVER)).toEqual(
      expect.arrayContaining([
        '  requestsPerMinute: 600 requests a minute, by auth.keys, ci: limits.requestsPerMinute' +
          '; callers[0].limits.requestsPerMinute (5 requests a minute) comes after auth.keys, ci: limits.requestsPerMinute and does not count',
        '  file: 500kB in a file, by ceiling.file; auth.keys, ci: limits.file would allow 900kB in a file' +
          '; callers[0].limits.file (1kB in a file) comes after auth.keys, ci: limits.file and does not count',
      ]),
    );
  });

  it('counts one as one', () => {
    const counts = {
      exchanges: 1,
      requestsPerMinute: 1,
      uploads: 1,
      sessions: 1,
      processes: 1,
      filesPerDay: 1,
      files: 1,
    };
    const lines = told({ groups: [] }, { ceiling: {}, base: counts, callers: [], keys: new Map() }, SERVER);
    const told1 = lines.filter((line) => /: 1 /.test(line));
    expect(told1).toHaveLength(Object.keys(counts).length);
    for (const line of told1) expect(line).not.toMatch(/: 1 [a-z]+s\b(?<!1 process)/);
  });

  it('is the smallest of what caller, server and host say about a message, and all their media types', () => {
    const rules = {
      ceiling: { accept: ['image/*'], acceptResults: ['image/*', 'text/csv'] },
      base: {},
      callers: [{ match: {}, limits: { response: 500_000, inlineImage: 400_000 } }],
      keys: new Map([['ci', { accept: ['image/png', 'text/csv'] }]]),
    };
    const host = { limits: { response: 600_000, inlineImage: 100_000 }, place: 'clients[1].limits' };
    expect(told({ key: 'ci', groups: [] }, rules, SERVER, { host })).toEqual(
      expect.arrayContaining([
        '  response: 500kB in a message of the server without its files, by callers[0].limits.response',
        '  inlineImage: 100kB in an image that stays in a result, by clients[1].limits.inlineImage',
        '  accept: image/png, text/csv, by auth.keys, ci: limits.accept',
        '  accept: image/*, by ceiling.accept',
        '  acceptResults: image/*, text/csv, by ceiling.acceptResults',
      ]),
    );
  });

  it('is that of a tool where it sets one, and how often it may be called, under the ceiling', () => {
    const rules = { ceiling: { requestsPerMinute: 30, files: 2 }, base: {}, callers: [], keys: new Map() };
    const limits = {
      'ocr*': { limits: { requestsPerMinute: 60, accept: ['image/*'] } },
      ocr: { limits: { file: 1000, files: 5, exchanges: 1 } },
    };
    const set = new ToolLimits('hr', limits).of('ocr');
    if (!set) throw new Error('it has none');
    expect(told({ groups: [] }, rules, SERVER, { tool: { name: 'ocr', set } })).toEqual(
      expect.arrayContaining([
        '  file: 1kB in a file, by servers.hr.tools.ocr.limits.file',
        '  files: at most 2 files with one message, by ceiling.files',
        '  accept: image/*, by servers.hr.tools["ocr*"].limits.accept',
        'Those of its calls of the tool "ocr":',
        '  exchanges: 1 request under way at one time, on each replica, by servers.hr.tools.ocr.limits.exchanges',
        '  requestsPerMinute: 30 requests a minute, with all tools that ocr* means, by ceiling.requestsPerMinute; servers.hr.tools["ocr*"].limits.requestsPerMinute would allow 60 requests a minute',
      ]),
    );
  });
});

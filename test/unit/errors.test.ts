import { describe, expect, it } from '@jest/globals';
import { ERROR_TABLE, type ErrorCode, GatewayError } from '../../gateway/errors.js';
import { ADVICE } from '../../gateway/explain/advice.js';
import type { Advice } from '../../gateway/explain/row.js';

/** Facts as any error may have them. */
const FACTS = {
  limit: 'limits.file',
  allowed: 104_857_600,
  actual: 999_999_999,
  waited: 30_000,
  maxSize: 1000,
  size: 7,
  server: 'ocr',
  path: '/result/content/0/data',
  text: 'Argument x is wrong',
  reason: 'why',
};

describe('the text of every error', () => {
  it.each(Object.keys(ERROR_TABLE) as ErrorCode[])('of %s names no config key and spells units in one way', (code) => {
    const error = new GatewayError(code, FACTS);
    expect(error.message).not.toMatch(/\b(?:limits|timeouts|servers|objects|state)\.\w|\d{4} ms|MiB|NaN/);
    expect(error.toJsonRpc().data).toMatchObject({ code, limit: 'limits.file', allowed: 104_857_600 });
  });

  it('keeps the key of the limit for the operator', () => {
    const error = new GatewayError('upload_too_large', FACTS);
    expect(error.message).toBe('The file is larger than the 104.8 MB allowed (1000 MB).');
    expect(error.forOperator).toBe('The file is larger than the 104.8 MB allowed (1000 MB). [limits.file]');
  });

  it.each(['message_too_large', 'upload_too_large', 'file_unscannable', 'day_quota_used', 'storage_full'] as const)(
    'of %s tells a limit and what passes it by a byte apart',
    (code) => {
      const { message } = new GatewayError(code, { allowed: 1_000_000_000, actual: 1_000_000_001, what: 'bytes' });
      expect(message).toContain('1000000000 bytes');
      expect(message).toContain('1000000001 bytes');
    },
  );

  it('counts one file and writes a list as one', () => {
    const facts = { what: 'files', allowed: 1, actual: 2, retryAfter: 3600 };
    expect(new GatewayError('day_quota_used', facts).message).toBe(
      '1 file may be stored for you within 24 hours here; with this file it would be 2 files. There is room again in 1 h.',
    );
    const missing = { tool: 'ocr', argument: 'image', maxSize: 1000, accept: ['image/png', 'image/jpeg'] };
    expect(new GatewayError('file_missing', missing).message).toContain('a file of type image/png, image/jpeg of');
  });

  it.each(Object.keys(ERROR_TABLE) as ErrorCode[])('of %s counts one thing as one', (code) => {
    const { facts = {} }: Advice = ADVICE[code];
    const counts = Object.entries({ ...FACTS, ...facts }).filter(([, value]) => typeof value === 'number');
    const { message } = new GatewayError(code, {
      ...FACTS,
      ...facts,
      ...Object.fromEntries(counts.map(([key]) => [key, 1])),
    });
    // a number of attempts that is a constant, and a factor
    expect(message.replaceAll(/1 (?:times|process)\b/g, '')).not.toMatch(/\b1 [a-z]{2,}s\b|of 1 have/);
  });

  it('says of what kind a failure to reach a server was, where that is known', () => {
    expect(new GatewayError('upstream_unreachable', { server: 'a' }).message).toBe('The server "a" cannot be reached.');
    expect(new GatewayError('upstream_unreachable', { server: 'a', reason: 'connection refused' }).message).toBe(
      'The server "a" cannot be reached: connection refused.',
    );
  });
});

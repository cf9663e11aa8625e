import { describe, expect, it } from '@jest/globals';
import { ERROR_TABLE, type ErrorCode, GatewayError } from '../../gateway/errors.js';

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
  it.each(Object.keys(ERROR_TABLE) as ErrorCode[])(
    'of %s names no config key and spells units in one way (C4)',
    (code) => {
      const error = new GatewayError(code, FACTS);
      expect(error.message).not.toMatch(/\b(?:limits|timeouts|servers|objects|state)\.\w|\d{4} ms|MiB|NaN/);
      expect(error.toJsonRpc().data).toMatchObject({ code, limit: 'limits.file', allowed: 104_857_600 });
    },
  );

  it('keeps the key of the limit for the operator (C4)', () => {
    const error = new GatewayError('upload_too_large', FACTS);
    expect(error.message).toBe('The file is larger than the 104.8 MB allowed (1000 MB).');
    expect(error.forOperator).toBe('The file is larger than the 104.8 MB allowed (1000 MB). [limits.file]');
  });

  it('says of what kind a failure to reach a server was, where that is known (C4)', () => {
    expect(new GatewayError('upstream_unreachable', { server: 'a' }).message).toBe('The server "a" cannot be reached.');
    expect(new GatewayError('upstream_unreachable', { server: 'a', reason: 'connection refused' }).message).toBe(
      'The server "a" cannot be reached: connection refused.',
    );
  });
});

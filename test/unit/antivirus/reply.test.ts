import { describe, expect, it } from '@jest/globals';
import { readReply } from '../../../adapters/antivirus/clamd/reply.js';

describe('A reply of clamd', () => {
  it.each([
    ['stream: OK', { kind: 'clean' }],
    ['stream: Eicar-Test-Signature FOUND', { kind: 'infected', signature: 'Eicar-Test-Signature' }],
    ['stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND', { kind: 'too-large' }],
    ['stream: Heuristics.Limits.Exceeded FOUND', { kind: 'too-large' }],
    ['INSTREAM size limit exceeded. ERROR', { kind: 'too-large' }],
  ])('"%s" is a verdict', (text, verdict) => {
    expect(readReply(text)).toEqual(verdict);
  });

  it.each([
    '',
    'OK',
    'stream: OK ',
    ' stream: OK',
    'stream: OK\n',
    'stream: ok',
    'stream: NOT OK',
    'stream: Eicar OK FOUND or not',
    'stream:  FOUND',
    'stream: two words FOUND',
    `stream: ${'x'.repeat(201)} FOUND`,
    "stream: Can't allocate memory ERROR",
    'COMMAND READ TIMED OUT',
    'UNKNOWN COMMAND',
  ])('"%s" is none, so that the file is not clean', (text) => {
    expect(readReply(text)).toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import { adviceIn, causesOf, failureText, linesOf } from '../../../gateway/errors/causes.js';
import { AdvisedError } from '../../../gateway/errors/system.js';
import { GatewayError } from '../../../gateway/errors.js';

const ofPeer = (name: string, message = 'said the peer at 10.0.0.1') => Object.assign(new Error(message), { name });

describe('why a part fails, as the admin port says it', () => {
  it.each([
    [
      'refused',
      ofPeer('InvalidAccessKeyId'),
      'The object store is not available: it refuses Wharf (InvalidAccessKeyId).',
    ],
    [
      'refused, with advice',
      Object.assign(new AdvisedError('x', 'Correct it.', { message: 'x' }), { name: 'AccessDenied' }),
      'The object store is not available: it refuses Wharf (AccessDenied). Correct it.',
    ],
    [
      'by the code of the system',
      Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:9000'), { code: 'ECONNREFUSED' }),
      'The object store is not available: it refuses Wharf (ECONNREFUSED).',
    ],
    ['without a code', new Error('10.0.0.1 is silent'), 'The object store is not available: it refuses Wharf.'],
    [
      'what a peer calls itself is no code',
      ofPeer('see http://10.0.0.1/'),
      'The object store is not available: it refuses Wharf.',
    ],
  ])('%s: it names the cause, and no address', (_, cause, text) => {
    expect(failureText(new GatewayError('store_unavailable', { refused: true }, cause))).toBe(text);
  });

  it('leaves out what only a client may do, and keeps the numbers', () => {
    expect(failureText(new GatewayError('store_unavailable'))).toBe('The object store is not available.');
    expect(failureText(new GatewayError('state_full', { actual: 3 }))).toBe(
      'The state store is full: it holds 3 sessions, files and links.',
    );
  });
});

describe('an error with its causes', () => {
  const inner = new AdvisedError('The key is not known.', 'Correct the key.');
  const unavailable = new GatewayError('store_unavailable', {}, inner);
  const outer = new AdvisedError('The bucket cannot be reached.', 'Check everything.', { cause: unavailable });

  it('has the advice of the innermost, which knows most', () => {
    expect(adviceIn(causesOf(outer))).toBe('Correct the key.');
  });

  it('says no words for clients between two others, and the advice only as such', () => {
    expect(linesOf(causesOf(outer))).toEqual(['The bucket cannot be reached.', 'The key is not known.']);
  });

  it('names what a peer has named, and not the class of an error', () => {
    class Refusal extends Error {
      override readonly name = 'Refusal';
    }
    expect(linesOf([new Refusal('No.'), ofPeer('NoSuchBucket', 'It is gone.')])).toEqual([
      'No.',
      'NoSuchBucket: It is gone.',
    ]);
  });

  it('does not lead the operator to a log of which the last words stand beside it', () => {
    const ended = new GatewayError('upstream_closed', { server: 'a', reason: 'exit code 1' }, new Error('No KEY.'));
    expect(linesOf(causesOf(ended))).toEqual([
      'The server "a" ended with exit code 1 before it wrote anything.',
      'No KEY.',
    ]);
  });

  it('does not say again how a process ended, and says it where that was not said before', () => {
    const cause = new Error('exit code 1; its last words: No KEY; no work.');
    const silent = new GatewayError('upstream_closed', { server: 'a', reason: 'exit code 1' }, cause);
    expect(linesOf(causesOf(silent))).toEqual([
      'The server "a" ended with exit code 1 before it wrote anything.',
      'its last words: No KEY; no work.',
    ]);
    expect(linesOf(causesOf(new GatewayError('upstream_closed', { server: 'a' }, cause)))).toContain(cause.message);
  });

  it('of a peer without TLS advises to speak without it', () => {
    const failed = Object.assign(new Error('write EPROTO 40:error:0A00010B:SSL routines::wrong version number:'), {
      code: 'EPROTO',
    });
    expect(adviceIn([new GatewayError('upstream_unreachable', { server: 'a' }, failed)])).toMatch(
      /^What answers there speaks no TLS/,
    );
  });
});

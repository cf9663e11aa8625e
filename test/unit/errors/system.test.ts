import { describe, expect, it } from '@jest/globals';
import { toStoreError as filesystemError } from '../../../adapters/objects/filesystem/writer.js';
import { toStoreError as s3Error } from '../../../adapters/objects/s3/errors.js';
import { connectionFailure } from '../../../adapters/transfer/https/failure.js';
import { unreachable } from '../../../adapters/upstream/common/unreachable.js';
import { headFailure } from '../../../adapters/upstream/http/failure.js';
import { notStarted } from '../../../adapters/upstream/stdio/not-started.js';
import { adviceOnCertificate } from '../../../gateway/errors/system.js';

const exhausted = (code: string) => Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' });

describe.each(['EMFILE', 'ENFILE'])('too many open files (%s)', (code) => {
  it.each([
    ['a connection to a server', (error: Error) => headFailure('up', error)],
    ['a look whether it can be reached', (error: Error) => unreachable('up', error)],
    ['one of several addresses', (error: Error) => unreachable('up', new AggregateError([error, error]))],
    ['the start of a server', (error: Error) => notStarted('up', undefined, error)],
    ['a file of the store', (error: Error) => filesystemError(error)],
    ['a request to S3', (error: Error) => s3Error(error, 1000)],
    ['a transfer', (error: Error) => connectionFailure('example.com', error, new AbortController().signal)],
  ])('are told as what they are, whatever fails for them: %s', (_, failure) => {
    expect(failure(exhausted(code))).toMatchObject({
      code: 'descriptors_exhausted',
      httpStatus: 503,
      message: 'Wharf has no file descriptors left. Try again later.',
    });
  });
});

const coded = (code: string) => Object.assign(new Error('unable to verify'), { code });

describe('advice on a certificate that was refused', () => {
  it.each(['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'DEPTH_ZERO_SELF_SIGNED_CERT'])(
    'names how a CA is made known: %s, however deep it is wrapped',
    (code) => {
      const error = coded(code);
      const wrapped = [
        error,
        new Error('the store is away', { cause: new Error('the request failed', { cause: error }) }),
        new AggregateError([error, new Error('other')]),
      ];
      for (const one of wrapped) expect(adviceOnCertificate(one)).toContain('NODE_EXTRA_CA_CERTS=');
    },
  );

  it('says of one for another name that the name is wrong, and of no CA', () => {
    const advice = adviceOnCertificate(coded('ERR_TLS_CERT_ALTNAME_INVALID'));
    expect(advice).toContain('Name the host');
    expect(advice).not.toContain('NODE_EXTRA_CA_CERTS');
  });

  it.each([
    ['CERT_HAS_EXPIRED', 'Renew'],
    ['CERT_NOT_YET_VALID', 'clock'],
  ])('says of one whose time it is not what to do about that, and of no CA: %s', (code, word) => {
    const advice = adviceOnCertificate(new Error('the store is away', { cause: coded(code) }));
    expect(advice).toContain(word);
    expect(advice).not.toContain('NODE_EXTRA_CA_CERTS');
  });

  it('says nothing of other errors', () => {
    const round = new Error('a');
    round.cause = round;
    for (const error of [coded('ECONNREFUSED'), new Error('no'), 'text', undefined, null, round])
      expect(adviceOnCertificate(error)).toBeUndefined();
  });
});

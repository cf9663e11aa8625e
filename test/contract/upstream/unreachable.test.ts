import { expect, it } from '@jest/globals';
import { unreachable } from '../../../adapters/upstream/common/unreachable.js';

it.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is not trusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'its certificate is not trusted'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host'],
  ['EPROTO', 'no TLS connection could be made'],
])('a server that is away by %s is so for the reason that %s', (code, reason) => {
  const { code: name, facts } = unreachable('docs', Object.assign(new Error('as the library says it'), { code }));
  expect([name, facts]).toEqual(['upstream_unreachable', { server: 'docs', reason }]);
});

import { expect, it } from '@jest/globals';
import { acceptedBy } from '../../../../gateway/relay/asking/lacking.js';

const ACCEPT = ['image/*'];
const OF_SERVER = { types: ACCEPT, limit: 'limits.accept', source: 'servers.a.limits.accept' };

it('names what the client declares among the lists of types, where that is narrower than what is wanted', () => {
  const wanted = { accept: ACCEPT, acceptBy: [OF_SERVER] };
  expect(acceptedBy(wanted, { accept: [...ACCEPT] })).toEqual({ acceptBy: [OF_SERVER] });
  expect(acceptedBy(wanted, wanted)).toEqual({ acceptBy: [OF_SERVER] });
  const declared = { types: ['image/png'], limit: 'what the client declares' };
  expect(acceptedBy(wanted, { accept: ['image/png'] })).toEqual({ acceptBy: [OF_SERVER, declared] });
  expect(acceptedBy({}, { accept: ['image/png'] })).toEqual({ acceptBy: [declared] });
  expect(acceptedBy({}, {})).toEqual({});
});

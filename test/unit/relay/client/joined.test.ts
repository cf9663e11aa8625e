import { expect, it } from '@jest/globals';
import { joined } from '../../../../gateway/relay/client/joined.js';

it('joins short pieces, and copies none of those that a long message comes in', () => {
  const packets: Buffer[] = Array.from({ length: 4 }, () => Buffer.alloc(64 * 1024));
  const [head, ...others] = joined([
    Buffer.from('data'),
    Buffer.from(': '),
    ...packets,
    Buffer.from('\n'),
    Buffer.from('\n'),
  ]);
  expect(head?.length).toBe(6 + 64 * 1024);
  expect(others).toHaveLength(3);
  expect(others[0]).toBe(packets[1]);
  expect(others[1]).toBe(packets[2]);
  expect(others[2]?.length).toBe(64 * 1024 + 2);
});

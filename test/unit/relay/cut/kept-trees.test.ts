import { describe, expect, it } from '@jest/globals';
import type { Dialect } from '../../../../gateway/ports/dialect.js';
import { TO_CLIENT_TREES } from '../../../../gateway/relay/cut/places.js';

describe('the places of messages that matter', () => {
  it('are one tree for all servers with the same dialects and the same least length', () => {
    const dialects: Dialect[] = [];
    const tree = TO_CLIENT_TREES.of(dialects, undefined);
    expect(TO_CLIENT_TREES.of(dialects, undefined)).toBe(tree);
    expect(TO_CLIENT_TREES.of(dialects, 1)).not.toBe(tree);
    expect(TO_CLIENT_TREES.of([], undefined)).not.toBe(tree);
  });
});

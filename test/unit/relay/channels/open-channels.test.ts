import { describe, expect, it } from '@jest/globals';
import { OpenChannels } from '../../../../gateway/relay/channels/open-channels.js';
import type { SharedSession } from '../../../../gateway/relay/channels/shared-session.js';

const MINUTE = 60_000;

function channels(...list: { principal?: string; restingSince: number | undefined; hasStream?: boolean }[]): {
  open: OpenChannels;
  all: SharedSession[];
} {
  const all = list.map((one) => ({ principal: 'me', hasStream: false, ...one }) as unknown as SharedSession);
  const open = new OpenChannels();
  for (const one of all) open.add(one);
  return { open, all };
}

describe('the channel that is spared when there is no room for another', () => {
  it('is one without a listener before one with a silent stream', () => {
    const { open, all } = channels({ restingSince: 0, hasStream: true }, { restingSince: 9 * MINUTE });
    expect(open.spare('me', false, 10 * MINUTE)).toBe(all[1]);
  });

  it('is one with a stream on which nothing was said for minutes, when there is no other', () => {
    const { open, all } = channels({ restingSince: undefined }, { restingSince: 4 * MINUTE, hasStream: true });
    expect(open.spare('me', false, 8 * MINUTE)).toBeUndefined();
    expect(open.spare('me', false, 10 * MINUTE)).toBe(all[1]);
  });

  it('belongs to no caller that has fewer than the one that asks', () => {
    const { open } = channels(
      { restingSince: undefined },
      { restingSince: undefined },
      { principal: 'other', restingSince: 0 },
    );
    expect(open.spare('me', false, MINUTE)).toBeUndefined();
    expect(open.spare('third', false, MINUTE)?.principal).toBe('other');
  });
});

import { describe, expect, it } from '@jest/globals';
import { parseMessages } from '../../../../gateway/mcp/request.js';
import { ChannelNames } from '../../../../gateway/relay/channels/names.js';

const messages = (id: string) =>
  parseMessages(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: {} })));

const named = (names: ChannelNames) => ({
  id: String(names.next(messages('mine'))),
  mapping: { id: '"mine"', progressToken: undefined },
});

describe('the names of requests on a channel of several clients', () => {
  it('keeps nothing of a request that is renamed and then cannot be sent', () => {
    const names = new ChannelNames();
    const { id } = named(names);
    expect(names.original(id)).toBe(id);
  });

  it('knows what its client calls a request until that is forgotten', () => {
    const names = new ChannelNames();
    const renamed = named(names);
    names.keep(renamed);
    expect(names.original(renamed.id)).toBe('"mine"');
    names.forget(renamed.id);
    expect(names.original(renamed.id)).toBe(renamed.id);
  });
});

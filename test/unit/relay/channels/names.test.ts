import { describe, expect, it } from '@jest/globals';
import { parseMessages } from '../../../../gateway/mcp/request.js';
import { ChannelNames } from '../../../../gateway/relay/channels/names.js';

const messages = (id: string) =>
  parseMessages(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: {} })));

describe('the names of requests on a channel of several clients', () => {
  it('keeps nothing of a request that is renamed and then cannot be sent (safety 11)', async () => {
    const names = new ChannelNames();
    const renamed = await names.rename(messages('mine'));
    expect(names.original(renamed.id)).toBe(renamed.id);
  });

  it('knows what its client calls a request until that is forgotten', async () => {
    const names = new ChannelNames();
    const renamed = await names.rename(messages('mine'));
    names.keep(renamed);
    expect(names.original(renamed.id)).toBe('"mine"');
    names.forget(renamed.id);
    expect(names.original(renamed.id)).toBe(renamed.id);
  });
});

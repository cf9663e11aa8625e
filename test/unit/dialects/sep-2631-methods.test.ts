import { describe, expect, it } from '@jest/globals';
import { create as sep2631 } from '../../../adapters/dialects/sep-2631/index.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { LocalMethodDeps } from '../../../gateway/relay/local/local-methods.js';
import { LocalMethods } from '../../../gateway/relay/local/local-methods.js';

const CALLER = {
  client: { protocolVersion: '2025-11-25', capabilities: {} },
  principal: 'ada',
  read: undefined,
  signal: new AbortController().signal,
  refused: () => {},
};

describe('the methods of SEP-2631 when a store is down', () => {
  const down = async () => {
    throw new GatewayError('state_unavailable', {}, new Error('ECONNREFUSED 10.1.2.3:6379'));
  };
  const methods = new LocalMethods({
    dialects: [sep2631()],
    uploadLinks: { authorize: down },
    library: { resolve: down, open: down },
    server: 's',
  } as unknown as LocalMethodDeps);

  it.each([
    ['files/authorizeUpload', {}],
    ['files/authorizeDownload', { uri: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' }],
    ['files/completeUpload', { uri: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' }],
  ])('%s fails with -32603, and tells nothing of what is inside (2631-56)', async (method, params) => {
    const error = await methods.answer(method, params, CALLER).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    const told = (error as GatewayError).toJsonRpc();
    expect(told.code).toBe(-32603);
    expect(JSON.stringify(told)).not.toContain('10.1.2.3');
  });
});

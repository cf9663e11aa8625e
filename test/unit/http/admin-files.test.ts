import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import type { FileControl } from '../../../gateway/files/control/control.js';
import { adminFiles } from '../../../gateway/http/routes/admin-files.js';

const FROM_HERE = { incoming: { httpVersion: '1.1', headers: {}, socket: { remoteAddress: '127.0.0.1' } } };

describe('a request about files that a store fails', () => {
  it('is noted with its cause, which its answer does not tell', async () => {
    const failure = new GatewayError('store_unavailable', {}, new Error('The store lists keys in no order.'));
    const control = { list: () => Promise.reject(failure) } as unknown as FileControl;
    const noted: GatewayError[] = [];
    const app = adminFiles(control, (error) => noted.push(error));
    const answer = await app.request('/files', {}, FROM_HERE);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      error: { code: 'store_unavailable', message: 'The object store is not available. Try again later.' },
    });
    expect(noted).toEqual([failure]);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import type { GatewayError } from '../../../gateway/errors.js';
import { listen } from '../../../gateway/http/listener.js';
import { guardSettings } from '../../../gateway/http/origin/guard.js';

let close = async () => {};
afterEach(() => close());

describe('a program of a port that cannot be loaded', () => {
  it.each([
    ['EMFILE', 503, 'descriptors_exhausted'],
    ['ERR_MODULE_NOT_FOUND', 503, 'installation_changed'],
    ['ENOENT', 500, 'internal'],
  ])(
    'for %s is told, to the operator as well, and loaded again with the next request',
    async (system, status, code) => {
      const told: GatewayError[] = [];
      let tries = 0;
      const face = await listen({
        ...{ host: '127.0.0.1', port: 0, idleMs: 1000, limits: { held: 1_000_000 }, isDraining: () => false },
        refused: (error) => void told.push(error),
        app: async () => {
          tries += 1;
          if (tries === 1) throw Object.assign(new Error(system), { code: system });
          return (_request, response) => void response.end('there');
        },
        guard: guardSettings({ allowedHosts: [], allowedOrigins: [], publicUrl: undefined }),
        sockets: { limit: 'limits.sockets', allowed: 10 },
      });
      close = async () => {
        const closed = face.close();
        face.closeAll();
        await closed;
      };
      const url = `http://127.0.0.1:${face.port}/`;
      const refused = await fetch(url);
      expect([refused.status, await refused.json()]).toMatchObject([status, { error: { data: { code } } }]);
      expect(told.map((error) => error.code)).toEqual([code]);
      expect(await (await fetch(url)).text()).toBe('there');
    },
  );
});

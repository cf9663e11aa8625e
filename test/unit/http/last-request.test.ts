import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listen } from '../../../gateway/http/listener.js';
import { guardSettings } from '../../../gateway/http/origin/guard.js';

describe('a request behind one whose answer closes the connection', () => {
  let port = 0;
  let close = async () => {};
  const served: string[] = [];

  beforeEach(async () => {
    served.length = 0;
    const face = await listen({
      ...{ host: '127.0.0.1', port: 0, idleMs: 60_000, limits: { held: 1_000_000 }, isDraining: () => false },
      refused: () => undefined,
      app: async () => (request, response) => {
        served.push(request.url ?? '');
        request.resume();
        request.once('end', () => response.end('served'));
      },
      guard: guardSettings({ allowedHosts: [], allowedOrigins: [], publicUrl: undefined }),
      sockets: { limit: 'limits.sockets', allowed: 400 },
    });
    ({ port } = face);
    close = async () => {
      const closed = face.close();
      face.closeAll();
      await closed;
    };
  });
  afterEach(() => close());

  const answersTo = (bytes: string) =>
    new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(port, '127.0.0.1');
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.once('close', () => resolve(text));
      socket.write(bytes);
    });

  const request = (path: string, header: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\nContent-Length: 2\r\n\r\n{}`;

  it.each(['Expect: 100-continue', 'Expect: something'])(
    'is not served, because its client cannot hear of it: %s',
    async (header) => {
      const answers = await answersTo(
        request('/first', header) + request('/second', 'X: y') + request('/third', 'X: y'),
      );
      expect(served).toEqual(['/first']);
      expect(answers.match(/^HTTP\/1\.1 200/gm)).toHaveLength(1);
      expect(answers).toMatch(/connection: close/i);
    },
  );
});

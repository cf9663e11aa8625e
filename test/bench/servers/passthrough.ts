import { Agent, createServer, request as forward } from 'node:http';

/**
 * The least that a proxy on node:http can do: every byte through, nothing looked at. The base of the gateway's figures, and
 * a stand-in to try the bench itself.
 *
 *     node passthrough.js PORT FAST-PORT SDK-PORT
 */

const fastPort = Number(process.argv[3]);
const sdkPort = Number(process.argv[4]);
const agent = new Agent({ keepAlive: true, maxFreeSockets: 512 });

createServer((request, response) => {
  // Hop by hop: passed on, a client's `close` would end the pooled connection under the next request.
  const { connection: _, ...headers } = request.headers;
  const port = request.url?.startsWith('/sdk/') ? sdkPort : fastPort;
  const options = { agent, host: '127.0.0.1', port, method: request.method, path: request.url };
  const out = forward({ ...options, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  out.on('error', () => response.destroy());
  request.pipe(out);
}).listen(Number(process.argv[2]), '127.0.0.1');

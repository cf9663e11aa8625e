import { Agent, createServer, request as forward } from 'node:http';

/**
 * The least a Node gateway can do: every byte through, nothing looked at. The floor under the gateway's figures, and a
 * stand-in to try the bench itself.
 *
 *     node passthrough.js PORT UPSTREAM-PORT
 */

const upstreamPort = Number(process.argv[3]);
const agent = new Agent({ keepAlive: true, maxFreeSockets: 512 });

createServer((request, response) => {
  const options = { agent, host: '127.0.0.1', port: upstreamPort, method: request.method, path: request.url };
  const out = forward({ ...options, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  out.on('error', () => response.destroy());
  request.pipe(out);
}).listen(Number(process.argv[2]), '127.0.0.1');

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, startChild } from './children.js';
import { processTarget, type Target } from './target.js';
import type { Tool } from './tools.js';

interface NginxOptions {
  tool: Tool;
  directory: string;
  fastPort: number;
  sdkPort: number;
}

/** nginx's default of 16 KiB would cost it many small writes. */
const BODY_BUFFER = '256k';
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** One worker, as the gateway is one process; buffering off, as SSE needs it; access log off. */
function config(options: NginxOptions, port: number): string {
  const { directory, fastPort, sdkPort } = options;
  const paths = TEMPORARY.map((name) => `${name}_temp_path ${join(directory, name)};`).join(' ');
  const proxy = (upstream: string) => `proxy_pass http://${upstream};`;
  return `worker_processes 1; daemon off; pid ${join(directory, 'nginx.pid')}; error_log ${join(directory, 'error.log')} warn;
events { worker_connections 4096; }
http {
  access_log off; client_max_body_size 0; keepalive_requests 100000000; ${paths}
  proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
  proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 600s;
  upstream fast { server 127.0.0.1:${fastPort}; keepalive 512; }
  upstream sdk { server 127.0.0.1:${sdkPort}; keepalive 16; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / { ${proxy('fast')} }
    location /sdk/ { ${proxy('sdk')} }
  }
}
`;
}

/** The yardstick: nginx passing every byte through. */
export async function nginxTarget(options: NginxOptions): Promise<Target> {
  const { tool, directory } = options;
  const port = await freePort();
  for (const name of ['', ...TEMPORARY]) mkdirSync(join(directory, name), { recursive: true, mode: 0o755 });
  const file = join(directory, 'nginx.conf');
  writeFileSync(file, config(options, port));
  const args = ['-c', file, '-p', directory];
  const start = () =>
    startChild({ command: tool.path, args, port, env: tool.env, errorLog: join(directory, 'stderr') });
  return processTarget('nginx', (server) => `http://127.0.0.1:${port}/${server}/mcp`, start);
}

/**
 * nginx as a place to PUT files to: each is stored under its path in `folder`, in a file of another name first, as the
 * gateway does it. The user is named for the case that root runs the bench; otherwise nginx ignores it.
 */
export async function nginxStore(tool: Tool, directory: string, folder: string): Promise<Target<'files'>> {
  const port = await freePort();
  for (const path of [directory, join(folder, 'files'), join(folder, 'body')]) mkdirSync(path, { recursive: true });
  const paths = TEMPORARY.slice(1).map((name) => `${name}_temp_path ${join(directory, name)};`);
  const file = join(directory, 'nginx.conf');
  writeFileSync(
    file,
    `user root; worker_processes 1; daemon off; pid ${join(directory, 'nginx.pid')};
error_log ${join(directory, 'error.log')} warn;
events { worker_connections 64; }
http {
  access_log off; client_max_body_size 0; client_body_buffer_size ${BODY_BUFFER}; ${paths.join(' ')}
  client_body_temp_path ${join(folder, 'body')};
  server {
    listen 127.0.0.1:${port};
    location /files/ { root ${folder}; dav_methods PUT; }
  }
}
`,
  );
  const args = ['-c', file, '-p', directory];
  return processTarget(
    'nginx',
    () => `http://127.0.0.1:${port}/files/upload`,
    () => startChild({ command: tool.path, args, port, env: tool.env, errorLog: join(directory, 'stderr') }),
  );
}

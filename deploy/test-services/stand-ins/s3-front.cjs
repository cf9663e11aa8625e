// Ceph's gateway from s3.sh on every address of the container, with the face of the image that it stands in for: the
// credentials come in as RUSTFS_*, and GET /health/ready answers 200 once the store is
// up.
const { spawn } = require('node:child_process');
const net = require('node:net');

const STORE_PORT = 7480;
const env = {
  ...process.env,
  S3_DIR: '/tmp/s3',
  S3_ACCESS_KEY: process.env.RUSTFS_ACCESS_KEY,
  S3_SECRET_KEY: process.env.RUSTFS_SECRET_KEY,
};
let ready = false;

spawn('/opt/s3.sh', ['start'], { env, stdio: 'inherit' }).on('exit', (code) => {
  if (code !== 0) process.exit(1);
  ready = true;
});

net
  .createServer((client) => {
    client.on('error', () => client.destroy());
    client.once('data', (first) => {
      if (!ready || first.toString('latin1', 0, 18) === 'GET /health/ready ') {
        const status = ready ? '200 OK' : '503 Service Unavailable';
        client.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
        return;
      }
      client.pause();
      const store = net.connect(STORE_PORT, '127.0.0.1', () => {
        store.write(first);
        client.pipe(store).pipe(client);
      });
      store.on('error', () => client.destroy());
      client.on('close', () => store.destroy());
      store.on('close', () => client.destroy());
    });
  })
  .listen(9000, '0.0.0.0');

process.on('SIGTERM', () => process.exit(0));

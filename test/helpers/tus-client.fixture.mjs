// Uploads a file with tus-js-client: node tus-client.fixture.mjs LINK FILE CHUNK_BYTES. Tells what happens, line by line.
import { createReadStream } from 'node:fs';
import * as tus from 'tus-js-client';

const [link, file, chunkBytes] = process.argv.slice(2);
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

const upload = new tus.Upload(createReadStream(file), {
  endpoint: link,
  chunkSize: Number(chunkBytes) || Number.POSITIVE_INFINITY,
  metadata: { filename: 'größe.bin', filetype: 'application/x-thing' },
  retryDelays: Array(100).fill(250),
  onProgress: (sent) => say({ sent }),
  onShouldRetry: (error) => {
    const status = error.originalResponse?.getStatus() ?? 0;
    say({ retry: status });
    return status === 0 || status >= 500 || status === 409;
  },
  onError: (error) => {
    say({ failed: String(error) });
    process.exit(1);
  },
  onSuccess: ({ lastResponse }) => say({ handle: lastResponse.getHeader('Wharf-File-Uri') ?? null }),
});
upload.start();

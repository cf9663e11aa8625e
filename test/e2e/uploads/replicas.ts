import { type FileParts, openFileParts, PRINCIPAL, SECRET } from '../../helpers/file-parts.js';
import { type Gateway, startGateway } from '../../helpers/gateway-process.js';
import { redisUrl, s3Config } from '../../helpers/services.js';

/** What several gateways share, and a way to hand out tickets that all of them know. */
export class Replicas {
  readonly parts: FileParts;

  private constructor(parts: FileParts) {
    this.parts = parts;
  }

  static async open(): Promise<Replicas> {
    return new Replicas(await openFileParts({ stores: 's3+redis', publicUrl: () => '', fileLimit: 300 * 1024 * 1024 }));
  }

  /** One more gateway process. No server is asked for anything here. */
  start(config: Record<string, unknown> = {}): Promise<Gateway> {
    const { bucket, keyPrefix } = this.parts;
    return startGateway({
      config: {
        servers: { nobody: { url: 'http://127.0.0.1:9/mcp' } },
        objects: { use: 's3', ...s3Config(bucket) },
        state: { use: 'redis', url: redisUrl(), keyPrefix },
        secret: SECRET,
        previews: { use: 'none' },
        logLevel: 'debug',
        limits: { file: '300MiB' },
        // this machine may be busy with other tests, and what is tested here is no time-out
        timeouts: { state: '20s', store: '60s', queue: '60s', idle: '60s' },
        ...config,
        ...config,
      },
    });
  }

  authorize(): Promise<{ uri: string; ticket: string }> {
    return this.parts.uploadLinks.authorize({ principal: PRINCIPAL });
  }

  close(): Promise<void> {
    return this.parts.close();
  }
}

/** Runs `job` for every item, so many at a time. */
export async function inParallel<Item>(items: readonly Item[], width: number, job: (item: Item) => Promise<void>) {
  let next = 0;
  const worker = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await job(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

import { openSession } from '../lib/client.js';
import {
  attempt,
  COST_HEAD,
  type Cost,
  costLine,
  fileBytes,
  idleRss,
  passed,
  peakRow,
  roundsOf,
  TIMEOUT_MS,
  WARM_UP_BYTES,
} from '../lib/file-rounds.js';
import { callWithFile, costOf, UPLOADS, upload } from '../lib/file-transfer.js';
import { filesGateway } from '../lib/files-gateway.js';
import { mib, type Section, table } from '../lib/report.js';
import { interleave } from '../lib/stats.js';
import { fileDigest } from '../servers/blob.js';
import type { Case } from './case.js';

const TAKE = { name: 'take_path', argument: 'path' };

/** One huge file that a server on the official SDK is given as a path. */
export const localPath: Case = {
  ids: ['path'],
  async run(lab): Promise<Section> {
    const bytes = fileBytes(lab.options);
    const gateway = await filesGateway(lab);
    const errors: string[] = [];
    try {
      await gateway.restart();
      const session = await openSession(gateway.url('sdk'), UPLOADS);
      const stored = async (size: number) => {
        const handle = await upload(session, size, TIMEOUT_MS);
        return { handle, bytes: size, digest: fileDigest(size) };
      };
      await callWithFile(session, TAKE, await stored(WARM_UP_BYTES), TIMEOUT_MS);
      const idle = await idleRss(gateway);
      const file = await stored(bytes);
      const samples = await interleave<Cost>(
        ['wharf'],
        roundsOf(lab.options),
        (name) =>
          attempt(errors, name, () => costOf(gateway.pids(), () => callWithFile(session, TAKE, file, TIMEOUT_MS))),
        0,
      );
      const what = `${mib(bytes)} MiB file`;
      return {
        title: 'A file as a path of a server on the official SDK',
        rows: [
          peakRow('path', `${what} as a local path`, idle, samples, (cost) => cost),
          passed('path', `${what}: sha-256 of what the server got`, 'the same', errors),
        ],
        details: [
          table(COST_HEAD, [costLine('call, wharf', bytes, samples, 'wharf', (cost) => cost)]),
          `Idle: ${mib(idle)} MiB.`,
          ...errors,
        ],
      };
    } finally {
      await gateway.stop();
    }
  },
};

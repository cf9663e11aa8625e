import { join } from 'node:path';
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
import { callWithFile, costOf, put, UPLOADS, upload } from '../lib/file-transfer.js';
import { filesGateway } from '../lib/files-gateway.js';
import { nginxStore } from '../lib/nginx.js';
import { mib, num, type Section, table } from '../lib/report.js';
import { interleave, ratio } from '../lib/stats.js';
import { debianTool } from '../lib/tools.js';
import { fileDigest } from '../servers/blob.js';
import type { Case } from './case.js';

const TAKE = { name: 'take', argument: 'file' };

interface Taken {
  put: Cost;
  /** Of the tool that is given the file; nginx calls none. */
  call: Cost;
}

const NO_CALL: Cost = { wall: Number.NaN, cpu: Number.NaN, peak: Number.NaN };

/** One huge file, uploaded and then handed to a stdio server as base64. nginx stores the same PUT in the same place. */
export const uploadAndCall: Case = {
  ids: ['P10'],
  async run(lab): Promise<Section> {
    const bytes = fileBytes(lab.options);
    const digest = fileDigest(bytes);
    const gateway = await filesGateway(lab);
    const nginx = await nginxStore(debianTool('nginx'), join(lab.directory, 'nginx-store'), gateway.folder);
    const putToNginx = (size: number) => put(nginx.url('files'), size, TIMEOUT_MS);
    const errors: string[] = [];
    try {
      await Promise.all([gateway.restart(), nginx.restart()]);
      const session = await openSession(gateway.url('recording'), UPLOADS);
      const uploadAndTake = async (size: number, sha256: string): Promise<Taken> => {
        const stored = await costOf(gateway.pids(), () => upload(session, size, TIMEOUT_MS));
        const file = { handle: stored.value, bytes: size, digest: sha256 };
        const call = await costOf(gateway.pids(), () => callWithFile(session, TAKE, file, TIMEOUT_MS));
        gateway.forget();
        return { put: stored, call };
      };
      await putToNginx(WARM_UP_BYTES);
      await uploadAndTake(WARM_UP_BYTES, fileDigest(WARM_UP_BYTES));
      const idle = await idleRss(gateway);
      const samples = await interleave<Taken>(
        ['nginx', 'wharf'],
        roundsOf(lab.options),
        (name) =>
          attempt(errors, name, async () =>
            name === 'wharf'
              ? await uploadAndTake(bytes, digest)
              : { put: await costOf(nginx.pids(), () => putToNginx(bytes)), call: NO_CALL },
          ),
        0,
      );
      const what = `${mib(bytes)} MiB file`;
      const ofPut = (taken: Taken) => taken.put;
      const ofCall = (taken: Taken) => taken.call;
      const wall = ratio(samples, 'wharf', 'nginx', (taken) => taken.put.wall);
      return {
        title: 'A file uploaded, and handed to a stdio server as base64',
        rows: [
          peakRow('P10', `${what} uploaded`, idle, samples, ofPut),
          peakRow('P10', `${what} from its handle to base64`, idle, samples, ofCall),
          { id: 'P10', what: `${what} uploaded, wall / nginx`, goal: '–', measured: num(wall), ok: undefined },
          passed('P10', `${what}: sha-256 of what the server got`, 'the same', errors),
        ],
        details: [
          table(COST_HEAD, [
            costLine('PUT, nginx', bytes, samples, 'nginx', ofPut),
            costLine('upload, wharf', bytes, samples, 'wharf', ofPut),
            costLine('call, wharf', bytes, samples, 'wharf', ofCall),
          ]),
          `Idle: ${mib(idle)} MiB.`,
          ...errors,
        ],
      };
    } finally {
      await nginx.stop();
      await gateway.stop();
    }
  },
};

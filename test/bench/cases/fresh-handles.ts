import { openSession } from '../lib/client.js';
import { fileBytes, passed, TIMEOUT_MS } from '../lib/file-rounds.js';
import { callWithFile, costOf, UPLOADS, upload } from '../lib/file-transfer.js';
import { filesGateway } from '../lib/files-gateway.js';
import { atMost, mib, num, type Section, table } from '../lib/report.js';
import { median } from '../lib/stats.js';
import { fileDigest } from '../servers/blob.js';
import type { Case } from './case.js';

/** CPU seconds for 2³⁰ bytes, in the dearest of all processes: what a process has in memory must not matter. */
const MOST_CPU = 1.7;
const PROCESSES = 10;
const QUICK_PROCESSES = 3;
const GIB = 1024 ** 3;
const TAKE = { name: 'take', argument: 'file' };

/** One huge file from its handle to a stdio server as base64, each time by a fresh gateway. */
export const freshHandles: Case = {
  ids: ['N9'],
  async run(lab): Promise<Section> {
    const bytes = fileBytes(lab.options);
    const digest = fileDigest(bytes);
    const processes = lab.options.quick ? QUICK_PROCESSES : PROCESSES;
    const gateway = await filesGateway(lab);
    const errors: string[] = [];
    const cpu: number[] = [];
    try {
      for (let n = 0; n < processes; n += 1) {
        await gateway.restart();
        const session = await openSession(gateway.url('recording'), UPLOADS);
        const handle = await upload(session, bytes, TIMEOUT_MS);
        const file = { handle, bytes, digest };
        const cost = await costOf(gateway.pids(), () => callWithFile(session, TAKE, file, TIMEOUT_MS));
        cpu.push((cost.cpu / bytes) * GIB);
        gateway.forget();
      }
    } catch (error) {
      errors.push(String(error));
    } finally {
      await gateway.stop();
    }
    const what = `${mib(bytes)} MiB file from its handle to base64, ${processes} fresh processes`;
    const dearest = cpu.length === processes ? Math.max(...cpu) : Number.NaN;
    return {
      title: 'A file handed to a stdio server, in fresh processes',
      rows: [
        atMost('N9', `${what}: CPU per GiB in the dearest`, dearest, MOST_CPU, ' s'),
        passed('N9', `${what}: sha-256 of what the server got`, 'the same', errors),
      ],
      details: [
        table(
          ['', 'least', 'median', 'most'],
          [['CPU s/GiB', num(Math.min(...cpu)), num(median(cpu)), num(Math.max(...cpu))]],
        ),
        ...errors,
      ],
    };
  },
};

import { setTimeout as sleep } from 'node:timers/promises';
import { callBlobs, decodedBytes } from '../lib/blob-call.js';
import { openSession } from '../lib/client.js';
import { rss } from '../lib/proc.js';
import { atMost, mib, num, type Row, type Section, table } from '../lib/report.js';
import type { ServerName } from '../lib/target.js';
import type { Case } from './case.js';

const MIB = 1024 * 1024;
/** Decoded 1 GiB. */
const GIB_AS_MB = (1024 * MIB * 4) / 3 / 1e6;
const QUICK_MB = 200;
const WARM_UP_MB = 1;
const SETTLE_MS = 1000;
const TIMEOUT_MS = 400_000;
const MOST_MIB = 64;

const SERVERS: readonly (readonly [ServerName, string])[] = [
  ['json', 'Streamable HTTP, JSON'],
  ['sse', 'Streamable HTTP, SSE'],
  ['legacy', 'HTTP+SSE'],
  ['stdio', 'stdio'],
];

/**
 * How far one huge file lifts the resident set of a fresh process. A blob of 1 MB goes before, so that code which is
 * loaded and compiled at first use counts as idle.
 */
export const memory: Case = {
  ids: ['P3'],
  async run(lab): Promise<Section> {
    const mb = lab.options.quick ? QUICK_MB : GIB_AS_MB;
    const rows: Row[] = [];
    const body: string[][] = [];
    const errors: string[] = [];
    const gateway = await lab.gateway();
    for (const [server, title] of SERVERS) {
      await gateway.restart();
      let over = Number.NaN;
      try {
        const session = await openSession(gateway.url(server));
        await callBlobs(gateway, [session], WARM_UP_MB, TIMEOUT_MS);
        await sleep(SETTLE_MS);
        const idle = rss(gateway.pids());
        const cost = await callBlobs(gateway, [session], mb, TIMEOUT_MS);
        if (cost.errors.length === 0) over = (cost.peak - idle) / MIB;
        errors.push(...cost.errors.map((error) => `${title}: ${error}`));
        body.push([title, mib(idle), mib(cost.peak), num(cost.wall), num((cost.cpu / mb) * 1000)]);
      } catch (error) {
        errors.push(`${title}: ${String(error)}`);
      }
      const what = `${mib(decodedBytes(mb))} MiB file, ${title}: peak RSS over idle`;
      rows.push(atMost('P3', what, over, MOST_MIB, ' MiB', 0));
    }
    const head = ['', 'idle MiB', 'peak MiB', 'wall s', 'CPU s/GB'];
    return { title: 'Memory of one huge blob', rows, details: [table(head, body), ...errors] };
  },
};

import { setTimeout as sleep } from 'node:timers/promises';
import { openSession, toolCall } from '../lib/client.js';
import { bytesRead, peakRss, resetPeak, rss } from '../lib/proc.js';
import { atMost, mib, num, type Row, type Section, table } from '../lib/report.js';
import { readSlowly } from '../lib/slow-reader.js';
import type { Case } from './case.js';

const MIB = 1024 * 1024;
const BYTES_PER_SECOND = 10_000;
const SECONDS = 10;
const QUICK_SECONDS = 3;
const FLOOD_MB = 300;
/**
 * What the kernel takes for two loopback sockets (up to tcp_wmem + tcp_rmem each) is not the gateway's doing; what it
 * pulls into itself beyond them is bounded by the longest single message it may hold.
 */
const MOST_AHEAD_MIB = 16;
const SETTLE_MS = 500;

/** A reader of 10 KB/s in front of a stream of 300 MB of small frames, none of them cut: who fills its memory? */
export const slowReader: Case = {
  ids: ['slow'],
  async run(lab): Promise<Section> {
    const rows: Row[] = [];
    const body: string[][] = [];
    const seconds = lab.options.quick ? QUICK_SECONDS : SECONDS;
    for (const target of [lab.direct, await lab.nginx(), await lab.gateway()]) {
      await target.restart();
      const session = await openSession(target.url('sse'));
      await sleep(SETTLE_MS);
      const pids = target.pids();
      const [idle, pulledBefore] = [rss(pids), bytesRead(pids)];
      resetPeak(pids);
      let sent = 0;
      let pulled = 0;
      const before = async () => {
        pulled = bytesRead(pids) - pulledBefore;
        sent = await lab.floodSent();
      };
      const options = { bytesPerSecond: BYTES_PER_SECOND, seconds, before };
      const read = await readSlowly(session, toolCall('flood', { mb: FLOOD_MB }), options);
      const own = target.name === lab.subject;
      if (own) {
        const what = 'slow reader (10 KB/s) of small frames: bytes the gateway pulled ahead';
        rows.push(atMost('slow', what, (pulled - read) / MIB, MOST_AHEAD_MIB, ' MiB', 1));
        rows.push(atMost('slow', 'slow reader: peak RSS over idle', (peakRss(pids) - idle) / MIB, 64, ' MiB', 0));
      }
      body.push([
        target.name,
        `${num(read / 1000, 0)} kB`,
        num((sent - read) / MIB, 1),
        own ? num((pulled - read) / MIB, 1) : '–',
        target === lab.direct ? '–' : mib(peakRss(pids) - idle),
      ]);
    }
    const head = ['', 'reader got', 'upstream is ahead MiB', 'gateway pulled ahead MiB', 'peak RSS over idle MiB'];
    const remark =
      'The first "ahead" counts what lies in the kernel\'s socket buffers on the way, the second only what the gateway took in.';
    return { title: 'A slow reader', rows, details: [table(head, body), remark] };
  },
};

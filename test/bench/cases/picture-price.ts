import { statSync } from 'node:fs';
import { type BlobCost, callPictures } from '../lib/blob-call.js';
import { type Measured, openSession } from '../lib/client.js';
import type { Lab } from '../lib/lab.js';
import { makePicture } from '../lib/pictures.js';
import { atLeast, atMost, num, type Row, type Section, table } from '../lib/report.js';
import { interleave, middle, ratio } from '../lib/stats.js';
import type { ServerName, Target } from '../lib/target.js';
import { PEER_VERSIONS, type PeerName } from '../lib/tools.js';
import type { PictureName } from '../servers/picture.js';
import type { Case } from './case.js';

const AT_ONCE = 8;
const MIB = 1024 * 1024;

interface Picture {
  name: PictureName;
  what: string;
  /** Calls of each of the sessions in one sample: half a second and more, which is 50 ticks of the clock of processes' CPU. */
  times: number;
  /** Most CPU milliseconds of its preview. */
  previewMs: number;
  /** Least calls/s in those of an npm gateway, with the preview and without. */
  faster: { with: number; without: number };
}

const PICTURES: readonly Picture[] = [
  {
    name: 'screenshot',
    what: 'screenshot, 1920 × 1080 PNG',
    times: 20,
    previewMs: 40,
    faster: { with: 1.2, without: 4 },
  },
  { name: 'photo', what: 'photo, 4000 × 3000 JPEG', times: 2, previewMs: 60, faster: { with: 3, without: 4 } },
];

interface Contender {
  target: Target;
  server: ServerName;
  /** Every call returns the same picture. */
  isSame?: true;
  /** What is wrong with an answer; undefined when nothing is. */
  wrong: (measured: Measured) => string | undefined;
}

const WITH = 'wharf, with previews';
const AGAIN = 'wharf, with previews, the same picture again';

async function contenders(lab: Lab, bytes: number): Promise<Map<string, Contender>> {
  const linked = ({ start }: Measured) =>
    start.includes('Complete file') ? undefined : `no file in the answer: ${start.slice(0, 300)}`;
  const previewed = (measured: Measured) =>
    linked(measured) ?? (/is a preview of/.test(measured.start) ? undefined : 'no preview in the answer');
  const whole = (measured: Measured) => (measured.bytes > bytes ? undefined : `only ${measured.bytes} bytes came`);
  const withPreviews = { target: await lab.gateway({ previews: true }), server: 'sse', wrong: previewed } as const;
  const found = new Map<string, Contender>([
    [lab.subject, { target: await lab.gateway(), server: 'sse', wrong: linked }],
    [WITH, withPreviews],
    [AGAIN, { ...withPreviews, isSame: true }],
  ]);
  if (!lab.options.peers) return found;
  for (const name of Object.keys(PEER_VERSIONS) as PeerName[]) {
    found.set(name, { target: await lab.peer(name), server: 'stdio', wrong: whole });
  }
  return found;
}

/** Pictures as people have them, eight at once: what a preview costs, and how many pass in a second beside the npm gateways. */
export const picturePrice: Case = {
  ids: ['N14'],
  async run(lab): Promise<Section> {
    const rows: Row[] = [];
    const body: string[][] = [];
    const errors: string[] = [];
    for (const picture of PICTURES) {
      const bytes = statSync(await makePicture(picture.name)).size;
      const all = await contenders(lab, bytes);
      const before = (await lab.keepingStoreStats()).reads;
      const samples = await interleave<BlobCost>(
        [...all.keys()],
        lab.options.rounds,
        async (name) => {
          const { target, server, wrong, isSame = false } = all.get(name) as Contender;
          try {
            const sessions = await Promise.all(Array.from({ length: AT_ONCE }, () => openSession(target.url(server))));
            const { times } = picture;
            const cost = await callPictures(target, sessions, { picture: picture.name, times, isSame }, wrong);
            if (cost.errors[0])
              errors.push(`${name}, ${picture.name}: ${cost.errors.length} failed: ${cost.errors[0]}`);
            return cost.errors.length === 0 ? cost : undefined;
          } catch (error) {
            errors.push(`${name}, ${picture.name}: ${String(error)}`);
            return undefined;
          }
        },
        2,
      );
      const calls = AT_ONCE * picture.times;
      const perCall = (name: string, of: (cost: BlobCost) => number) => (middle(samples, name, of) / calls) * 1000;
      const rate = ({ wall }: BlobCost) => calls / wall;
      const { what, previewMs, faster } = picture;
      rows.push(
        atMost(
          'N14',
          `${what}: CPU of the preview`,
          perCall(WITH, ({ previews }) => previews),
          previewMs,
          ' ms',
          1,
        ),
      );
      for (const peer of [...all.keys()].filter((name) => name in PEER_VERSIONS)) {
        const times = (name: string) => ratio(samples, name, peer, rate);
        rows.push(atLeast('N14', `${what}, with the preview: calls/s / ${peer}`, times(WITH), faster.with, '×'));
        rows.push(atLeast('N14', `${what}, without: calls/s / ${peer}`, times(lab.subject), faster.without, '×'));
      }
      for (const name of all.keys()) {
        body.push([
          `${what}, ${name}`,
          num(middle(samples, name, rate), 1),
          num(
            perCall(name, ({ cpu, previews }) => cpu - previews),
            1,
          ),
          num(
            perCall(name, ({ previews }) => previews),
            1,
          ),
          num(middle(samples, name, ({ peak }) => peak) / MIB, 0),
        ]);
      }
      const read = (await lab.keepingStoreStats()).reads - before;
      errors.push(`Of the ${what} the store was asked for ${read} previews' sources.`);
    }
    const head = ['', 'calls/s', 'CPU ms per call', 'of previews', 'peak RSS MiB'];
    return { title: 'Pictures with and without previews', rows, details: [table(head, body), ...new Set(errors)] };
  },
};

import { describe, expect, it } from '@jest/globals';
import { create as createObjects, settings as objectSettings } from '../../../../adapters/objects/memory.js';
import { UNSHARED } from '../../../../gateway/budget/ledger.js';
import { StoredObjects } from '../../../../gateway/files/stored/stored-objects.js';
import { createLedgers } from '../../../../gateway/ledgers.js';
import { createPreviews, type Previews } from '../../../../gateway/parts/previews.js';
import { DEFAULT_LIMITS } from '../../../../gateway/policy/limits.js';
import type { ObjectStore } from '../../../../gateway/ports/object-store.js';
import type { Previewer } from '../../../../gateway/ports/previewer.js';
import { comparisonLedger } from '../../../helpers/budgets.js';
import { silentLog } from '../../../helpers/silent-log.js';
import { NO_LEAKS, RelayLab } from '../relay-lab.js';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x02\0\0\0', 'latin1');
const PICTURE = Buffer.concat([PNG, Buffer.alloc(20_000, 7)]);
const LIMITS = { inlineImage: 3000, inlineOther: 3000, inlineResource: 3000 };

interface Lab {
  relay: RelayLab;
  /** How often a stored object was read. */
  reads: () => number;
  /** What the previewer read, file by file, and the signals that could stop it. */
  rendered: Buffer[];
  stops: AbortSignal[];
}

function lab(previewMemory: number): Lab {
  let reads = 0;
  const memory = createObjects(objectSettings.parse({}), { clock: { now: () => Date.now() } });
  const store: ObjectStore = {
    ...memory,
    partSize: 4096,
    get: (...asked) => {
      reads += 1;
      return memory.get(...asked);
    },
  };
  const rendered: Buffer[] = [];
  const stops: AbortSignal[] = [];
  const previewer: Previewer = {
    name: 'fake',
    takes: (type) => type === 'image/png',
    wholeUpTo: (type) => (type === 'image/png' ? 1_000_000 : 0),
    async render(source, _limits, signal) {
      stops.push(signal);
      const pieces: Buffer[] = [];
      for await (const piece of await source.open(signal)) pieces.push(piece as Buffer);
      rendered.push(Buffer.concat(pieces));
      const image = { mimeType: 'image/jpeg', data: Buffer.from('a small picture'), width: 4, height: 4 } as const;
      return { kind: 'rendered', preview: { facts: { pixels: { width: 16, height: 16 } }, image } };
    },
    check: async () => {},
    close: async () => {},
  };
  const metrics = { count() {}, observe() {}, gauge() {} };
  const limits = { ...DEFAULT_LIMITS, previewMemory };
  const ledgers = createLedgers({ limits, servers: [], partSize: 0 }, UNSHARED);
  const previews: Previews = createPreviews({
    previewer,
    stored: new StoredObjects({
      objects: store,
      log: silentLog,
      comparisons: comparisonLedger(),
      settings: { queueMs: 1000 },
    }),
    ledgers,
    log: silentLog,
    metrics,
  });
  const relay = new RelayLab({ limits: LIMITS, previews, wrapObjects: () => store });
  return { relay, reads: () => reads, rendered, stops };
}

const result = (content: object[]) => [Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content } }))];
const image = (bytes: Buffer) => ({ type: 'image', mimeType: 'image/png', data: bytes.toString('base64') });

describe('the preview of a picture in a result', () => {
  it('is made of what passed, not of what was stored', async () => {
    const { relay, reads, rendered } = lab(1_000_000);
    const { text } = await relay.relay(result([image(PICTURE)]));
    expect(text).toContain(Buffer.from('a small picture').toString('base64'));
    expect(rendered).toHaveLength(1);
    expect(rendered[0]?.equals(PICTURE)).toBe(true);
    expect(reads()).toBe(0);
    expect(await relay.leaks()).toEqual(NO_LEAKS);
  });

  it('is made of what was stored where there is no memory for it', async () => {
    const { relay, reads, rendered } = lab(0);
    const { text } = await relay.relay(result([image(PICTURE)]));
    expect(text).toContain(Buffer.from('a small picture').toString('base64'));
    expect(rendered[0]?.equals(PICTURE)).toBe(true);
    expect(reads()).toBe(1);
    expect(await relay.leaks()).toEqual(NO_LEAKS);
  });

  it('is made once of equal pictures', async () => {
    const { relay, rendered, reads } = lab(1_000_000);
    const { text } = await relay.relay(result([image(PICTURE), image(PICTURE)]));
    expect(text.split(Buffer.from('a small picture').toString('base64'))).toHaveLength(3);
    expect(rendered).toHaveLength(1);
    expect(reads()).toBe(0);
  });

  it('is given up with the message', async () => {
    const other = { type: 'image', mimeType: 'image/png', data: `${PICTURE.toString('base64').slice(4)}!not base64` };
    const { relay, stops } = lab(1_000_000);
    const { text } = await relay.relay(result([image(PICTURE), other]));
    expect(text).toContain('"error"');
    expect(stops.every(({ aborted }) => aborted)).toBe(true);
    expect(await relay.leaks()).toEqual(NO_LEAKS);
  });
});

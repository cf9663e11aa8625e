import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { RenderProcess } from '../../../adapters/previews/local/process.js';
import type { PreviewSource } from '../../../gateway/ports/previewer.js';
import { silentLog } from '../../helpers/silent-log.js';
import { collectingLog } from './collecting-log.js';
import { pdf } from './pdf-files.js';
import { LIMITS } from './previewer.contract.js';

const MIB = 1024 * 1024;
const GENEROUS = 100;

/** Its page takes half a minute: 6000 layers, each as large as the page. */
function layers(): Buffer {
  const figure = '0 0 595 842 re f';
  const group = '/Group<</S/Transparency>>';
  return pdf({
    content: '/G gs /X Do\n'.repeat(6000),
    objects: [
      `<</Type/XObject/Subtype/Form/BBox[0 0 595 842]${group}/Length ${figure.length}>>stream\n${figure}\nendstream`,
    ],
    resources: '/XObject<</X 4 0 R>>/ExtGState<</G<</ca .5>>>>',
  });
}

const sourceOf = (bytes: Buffer): PreviewSource => ({
  mimeType: 'application/pdf',
  size: bytes.length,
  open: async () => Readable.from([bytes]),
});

/** What becomes of a PDF, and whether its process would take another one. */
async function rendered(bytes: Buffer, processorTime: { most: number; end: number }) {
  const process = new RenderProcess({
    ...{ maxMemory: 256 * MIB, maxSource: 64 * MIB, deadline: 60_000, inheritedEnv: {}, log: silentLog },
    processorTime,
  });
  try {
    const result = await process.render(sourceOf(bytes), LIMITS, new AbortController().signal);
    return { outcome: result.kind === 'refused' ? result.reason : result.kind, alive: process.alive };
  } finally {
    await process.kill();
  }
}

describe('the processor time of a render process', () => {
  it('is limited by the system, which ends it in the midst of a page also where its gateway was killed', async () => {
    expect(await rendered(layers(), { most: GENEROUS, end: 2 })).toEqual({ outcome: 'failed', alive: false });
  });

  it('lets it take further files while there is enough of it', async () => {
    expect(await rendered(pdf(), { most: GENEROUS, end: GENEROUS })).toEqual({ outcome: 'rendered', alive: true });
  });

  it('ends with a result, and not in the midst of the next file', async () => {
    expect(await rendered(pdf(), { most: 0, end: GENEROUS })).toEqual({ outcome: 'rendered', alive: false });
  });
});

describe('a render process that the gateway ends', () => {
  it('in the midst of a file, as at the end of Wharf, does not count as one that failed', async () => {
    const log = collectingLog();
    const process = new RenderProcess({
      ...{ maxMemory: 256 * MIB, maxSource: 64 * MIB, deadline: 60_000, inheritedEnv: {}, log },
      processorTime: { most: GENEROUS, end: GENEROUS },
    });
    const result = process.render(sourceOf(layers()), LIMITS, new AbortController().signal);
    await process.ready;
    await process.kill();
    expect(await result).toMatchObject({ kind: 'refused' });
    expect(log.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  });
});

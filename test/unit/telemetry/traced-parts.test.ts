import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import type { Antivirus, Scan } from '../../../gateway/ports/antivirus.js';
import type { Span, SpanFacts, SpanFailure, Tracer } from '../../../gateway/ports/telemetry.js';
import { tracedAntivirus } from '../../../gateway/telemetry/traced-parts.js';

interface Ended {
  name: string;
  facts: SpanFacts;
  failure: SpanFailure | undefined;
}

/** A tracer that keeps how each span has ended first: what a span is told after its end is lost. */
function recorder(): { tracer: Tracer; ended: Ended[] } {
  const ended: Ended[] = [];
  const context = { traceparent: '' };
  const begin: Tracer['begin'] = ({ name }): Span => {
    let isOpen = true;
    const end: Span['end'] = (facts = {}, failure) => {
      if (isOpen) ended.push({ name, facts, failure });
      isOpen = false;
    };
    return { context, end };
  };
  const tracer = { handsOnAlways: false, current: undefined, begin, within: <V>(_: unknown, work: () => V) => work() };
  return { tracer: { ...tracer, observe: () => {} }, ended };
}

function antivirusOf(scan: Partial<Scan>): Antivirus {
  const whole: Scan = { write: async () => {}, end: async () => ({ kind: 'clean' }), abort: () => {}, ...scan };
  const check = async () => {};
  const scanner = { maxSize: 1, larger: 'refuse', scans: 1, queue: 1, begin: async () => whole, check } as const;
  return { name: 'fake', scanner, close: check };
}

async function scanned(scan: Partial<Scan>): Promise<{ ended: Ended[]; outcome: unknown }> {
  const { tracer, ended } = recorder();
  const { scanner } = tracedAntivirus(antivirusOf(scan), tracer);
  const one = await scanner?.begin(new AbortController().signal);
  await one?.write(Buffer.from('x'));
  const outcome = await one?.end().catch((error: unknown) => error);
  one?.abort();
  return { ended, outcome };
}

describe('The span of a scan', () => {
  it('says what the antivirus has found, and ends once', async () => {
    const { ended, outcome } = await scanned({ end: async () => ({ kind: 'infected', signature: 'Eicar' }) });
    expect(outcome).toEqual({ kind: 'infected', signature: 'Eicar' });
    expect(ended).toEqual([{ name: 'scan file', facts: { 'wharf.verdict': 'infected' }, failure: undefined }]);
  });

  it('has failed when the antivirus fails', async () => {
    const away = new GatewayError('antivirus_unavailable');
    const { ended, outcome } = await scanned({ end: () => Promise.reject(away) });
    expect(outcome).toBe(away);
    expect(ended).toEqual([{ name: 'scan file', facts: {}, failure: { type: 'antivirus_unavailable' } }]);
  });

  it('has been given up with its file', async () => {
    const { tracer, ended } = recorder();
    const { scanner } = tracedAntivirus(antivirusOf({}), tracer);
    (await scanner?.begin(new AbortController().signal))?.abort();
    expect(ended).toEqual([{ name: 'scan file', facts: {}, failure: { type: 'aborted' } }]);
  });

  it('is not recorded without a tracer: the antivirus stays itself', () => {
    const antivirus = antivirusOf({});
    expect(tracedAntivirus(antivirus, undefined)).toBe(antivirus);
  });
});

import { describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { makeCodes } from '../../../gateway/probe/codes.js';
import { documentOf } from '../../../gateway/probe/document.js';
import { pictureOf } from '../../../gateway/probe/picture.js';
import { Probe } from '../../../gateway/probe/probe.js';
import { PROBES } from '../../../gateway/probe/results.js';

interface Block {
  type: string;
  text?: string;
  data?: string;
  uri?: string;
  resource?: { uri: string; text?: string; blob?: string };
}
interface Result {
  content: Block[];
  structuredContent?: object;
  isError?: boolean;
}
type Report = { behaviour: Record<string, { is: unknown; source: string }>; also: object } & Record<string, unknown>;

/** What a model reads of a text, or sees in a picture: the digits cannot be read here, so `pictures` stand for them. */
const codesIn = (text: string) => text.match(/(?<![A-Z0-9])[A-Z]{4}\d{4}(?![A-Z0-9])|[A-Z]{4}\d{4}/g) ?? [];

/** Calls every tool as a host whose model is shown what `shown` gives. */
function report(shown: (result: Result, tool: string) => string, extra: object = {}): Report {
  const probe = new Probe(
    () => Date.UTC(2026, 10, 22),
    () => undefined,
  );
  let id = 0;
  const ask = (method: string, params: object) => {
    id += 1;
    const reply = probe.answer({ jsonrpc: '2.0', id, method, params });
    return reply?.result as Result;
  };
  ask('initialize', { protocolVersion: '2025-06-18', clientInfo: { name: 'host', version: '7' } });
  const seen = Object.keys(PROBES).flatMap((name) => codesIn(shown(ask('tools/call', { name, arguments: {} }), name)));
  const { content } = ask('tools/call', { name: 'probe_report', arguments: { codes: seen, ...extra } });
  return JSON.parse(content[0]?.text ?? '') as Report;
}

const textsOf = ({ content }: Result) => content.map(({ text, resource }) => text ?? resource?.text ?? '').join('\n');
const factsOf = ({ behaviour }: Report) =>
  Object.fromEntries(Object.entries(behaviour).map(([name, { is }]) => [name, is]));

describe('wharf probe', () => {
  it('tells a host that shows only texts', () => {
    const row = report(textsOf);
    expect(factsOf(row)).toEqual({
      structured: 'content',
      images: { reach: 'nothing' },
      links: 'dropped',
      blobs: 'dropped',
      errors: 'text',
    });
    expect(row).toMatchObject({ name: 'host', match: { names: ['host'], versions: '7' }, notCalled: [], notOurs: [] });
    expect(row.behaviour.structured?.source).toBe('wharf probe, 2026-11-22, host 7');
  });

  it('tells a host that writes everything as JSON, base64 too', () => {
    const row = report((result) => JSON.stringify(result));
    expect(factsOf(row)).toMatchObject({ structured: 'both', links: 'json', blobs: 'json', errors: 'string' });
  });

  it('tells a host that shows nothing but structuredContent where there is some, and addresses as text', () => {
    const row = report(({ structuredContent, content, isError }) => {
      if (structuredContent) return JSON.stringify(structuredContent);
      return isError ? '' : content.map((block) => block.text ?? block.uri ?? block.resource?.uri ?? '').join(' ');
    });
    expect(factsOf(row)).toMatchObject({
      structured: 'without-content',
      links: 'text',
      blobs: 'named',
      errors: 'unknown',
    });
  });

  it('tells where a long text is cut, between two codes', () => {
    const row = report((result) => textsOf(result).slice(0, 40_000));
    expect(factsOf(row).text).toEqual({ most: 38_000, unit: 'characters', per: 'block', under: 42_000 });
  });

  it('believes no code that it has not given out, and knows which tools were not called', () => {
    const probe = new Probe(
      () => 0,
      () => undefined,
    );
    const asked = { name: 'probe_report', arguments: { codes: ['ABCD1234'] } };
    const { result } = probe.answer({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: asked }) ?? {};
    const row = JSON.parse((result as Result).content[0]?.text ?? '') as Report;
    expect(row).toMatchObject({ notOurs: ['ABCD1234'], notCalled: Object.keys(PROBES) });
    expect(factsOf(row)).toMatchObject({ structured: 'unknown', blobs: 'unknown', images: { reach: 'unknown' } });
  });

  it('takes from the report what only the host or its user knows', () => {
    const row = report(textsOf, { blobWasSaved: true, userSees: 'answer' });
    expect(factsOf(row)).toMatchObject({ blobs: 'saved', user: 'answer' });
  });

  it('hides a code in base64 that the bytes themselves do not show', () => {
    const codes = makeCodes();
    const picture = pictureOf(codes.errorPicture, codes.errorBase64);
    const document = documentOf(codes.blobContent, codes.blobBase64);
    for (const [bytes, code] of [
      [picture, codes.errorBase64],
      [document, codes.blobBase64],
    ] as const) {
      expect(bytes.toString('base64')).toContain(code);
      expect(bytes.toString('latin1')).not.toContain(code);
    }
    expect(document.toString('latin1')).toContain(`(${codes.blobContent}) Tj`);
  });

  it('draws pictures that can be decoded, black on white, another one for each digit', async () => {
    const drawn = await Promise.all(
      Array.from({ length: 10 }, async (_, digit) => {
        const { data, info } = await sharp(pictureOf(String(digit)))
          .greyscale()
          .raw()
          .toBuffer({ resolveWithObject: true });
        expect([info.width, info.height]).toEqual([60, 84]);
        expect(new Set(data)).toEqual(new Set([0, 255]));
        return data.toString('base64');
      }),
    );
    expect(new Set(drawn).size).toBe(10);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { F2, inTurn, type Json, type Lab, lab, type Row, sends } from './recording-lab.js';
import { dataUri, EARLY, handleIn, shownTool, tool } from './sep-2356-lab.js';

const PNG = F2.toString('base64');
const DATA = dataUri('image/png', F2);
const PERCENT = F2.toString('hex').replace(/../g, '%$&');
const OCR = tool(
  'ocr_image',
  {
    image_base64: { type: 'string', description: 'Base64 of a PNG or JPEG' },
    filename: { type: 'string' },
    lang: { type: 'string', default: 'en' },
  },
  {},
);
(OCR.inputSchema as Json).required = ['image_base64'];

describe('a legacy tool that takes base64, in front of clients of SEP-2356', () => {
  let ocr: Lab;
  let early: RawClient;

  beforeAll(async () => {
    const files = {
      image_base64: { encoding: 'base64', accept: ['image/png', 'image/jpeg'], maxSize: '2MiB', name: 'filename' },
    };
    const shoot = tool('shoot', {});
    const image = Buffer.concat([F2, Buffer.alloc(600_000)]).toString('base64');
    ocr = await lab([OCR, shoot], {
      server: { tools: { ocr_image: { files } } },
      methods: {
        'tools/call': ({ name }) =>
          name === 'shoot'
            ? { content: [{ type: 'image', mimeType: 'image/png', data: image }] }
            : { content: [{ type: 'text', text: 'done' }] },
      },
    });
    early = await RawClient.connect(ocr.wharf.mcp, '2025-06-18', { capabilities: EARLY });
  });

  afterAll(() => ocr.stop());

  it('its argument is a declared file, and there are no keywords of our own (2356-01)', async () => {
    const { inputSchema } = await shownTool(ocr.client);
    expect(inputSchema.properties.image_base64).toMatchObject({
      type: 'string',
      format: 'uri',
      'x-mcp-file': { accept: ['image/png', 'image/jpeg'], maxSize: 2 * 1024 * 1024 },
    });
    const keywords = JSON.stringify(inputSchema).match(/"x-mcp-[a-z-]+"/g) ?? [];
    expect(new Set(keywords)).toEqual(new Set(['"x-mcp-file"']));
  });

  it('what was required stays so (2356-41)', async () => {
    expect((await shownTool(ocr.client)).inputSchema.required).toEqual(['image_base64']);
  });

  it('a client of the early revisions sees inputFiles beside it (2356o-01)', async () => {
    expect((await shownTool(early)).inputFiles).toEqual({
      image_base64: { accept: ['image/png', 'image/jpeg'], maxSize: 2 * 1024 * 1024 },
    });
  });

  it.each<Row>([
    [
      'a data: URI and the name in its own argument (2356-19, K2)',
      sends('ocr_image', { image_base64: DATA, filename: 'a.png' }, { image_base64: PNG, filename: 'a.png' }),
    ],
    [
      'a file without a name gets none invented (2356-19, K2)',
      sends('ocr_image', { image_base64: DATA }, { image_base64: PNG }),
    ],
    [
      'the name inside the data: URI (2356o-09, K3)',
      sends(
        'ocr_image',
        { image_base64: `data:image/png;name=a.png;charset=x;base64,${PNG}` },
        { image_base64: PNG, filename: 'a.png' },
      ),
    ],
    [
      'what the caller says is the name wins (2356o-09)',
      sends(
        'ocr_image',
        { image_base64: dataUri('image/png', F2, 'a.png'), filename: 'b.png' },
        { image_base64: PNG, filename: 'b.png' },
      ),
    ],
    ['takes raw base64 as before (2356-49, K8)', sends('ocr_image', { image_base64: PNG })],
    [
      'takes a percent-encoded data: URI (2356-17, K2)',
      sends('ocr_image', { image_base64: `data:image/png,${PERCENT}` }, { image_base64: PNG }),
    ],
  ])('%s', (_sentence, ...calls) => inTurn(calls, ocr));

  it("takes a handle of Wharf's own (2356-18, K8)", async () => {
    const { result } = await ocr.client.call('shoot');
    const sent = await ocr.sent('ocr_image', { image_base64: handleIn(result) });
    expect(sent.filename).toBe('shoot-1.png');
    const expected = sha256(Buffer.concat([F2, Buffer.alloc(600_000)]));
    expect(sha256(Buffer.from(String(sent.image_base64), 'base64'))).toBe(expected);
  });

  it('a client that declared nothing may send a data: URI (2356-40)', async () => {
    const bare = await RawClient.connect(ocr.wharf.mcp, '2024-11-05');
    const { result } = await bare.call('ocr_image', { image_base64: DATA });
    expect(result).not.toHaveProperty('isError');
    expect(ocr.upstream.lastArguments).toEqual({ image_base64: PNG });
  });
});

import { describe, expect, it } from '@jest/globals';
import { type Bound, closeState, openState, type State } from '../../../../gateway/relay/asking/sealed-state.js';
import { Seal } from '../../../../gateway/secrets/seal.js';

const seal = new Seal(['one secret']);
const bound: Bound = {
  principal: 'ann',
  server: 'docs',
  method: 'tools/call',
  subject: 'ocr',
  args: { lang: 'en', pages: [1, { a: 1, b: null }] },
};
const state: State = {
  files: [
    {
      key: 'k',
      tool: 'ocr',
      argument: 'image',
      at: ['image'],
      maxSize: 1,
      means: 'url',
      fileId: 'f_1',
      uri: 'mcp-file://wharf/f_1',
      ticket: 'the ticket',
      url: 'http://gw/u/the-ticket',
      expiresAt: 1000,
    },
  ],
  inner: 'of the server',
};
const sealed = closeState(seal, state, bound, 1000);

describe('a sealed state', () => {
  it('opens for the same call, in whatever order its arguments are written', () => {
    const args = { pages: [1, { b: null, a: 1 }], lang: 'en' };
    expect(openState(seal, sealed, { ...bound, args }, 999)).toEqual({ kind: 'open', state });
  });

  it.each<[string, Partial<Bound>]>([
    ['principal', { principal: 'bob' }],
    ['server', { server: 'other' }],
    ['method', { method: 'prompts/get' }],
    ['tool', { subject: 'other' }],
    ['argument', { args: { lang: 'de', pages: [1, { a: 1, b: null }] } }],
    ['order of a list', { args: { lang: 'en', pages: [{ a: 1, b: null }, 1] } }],
    ['arguments at all', { args: undefined }],
  ])('is of no use with another %s', (_what, other) => {
    expect(openState(seal, sealed, { ...bound, ...other }, 0)).toEqual({ kind: 'other call' });
  });

  it('ends with its time', () => {
    expect(openState(seal, sealed, bound, 1000)).toEqual({ kind: 'over' });
  });

  it('is not for others to make, to change or to read', () => {
    const bytes = Buffer.from(sealed, 'base64url');
    bytes[20] = (bytes[20] as number) ^ 1;
    for (const forged of [
      '',
      'of a server',
      bytes.toString('base64url'),
      new Seal(['another']).close('requestState', '{}'),
    ])
      expect(openState(seal, forged, bound, 0)).toEqual({ kind: 'foreign' });
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('ticket');
  });

  it('made with an older secret still opens', () => {
    expect(openState(new Seal(['new', 'one secret']), sealed, bound, 0).kind).toBe('open');
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseMessages } from '../../../../gateway/mcp/request.js';
import { parseExactly, parseJson } from '../../../../gateway/wire/json/parse.js';
import { runs } from '../../../helpers/effort.js';

/** Each character of a text as an escape. */
const spelledOut = (text: string) =>
  [...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

/** The number of a JSON text: a sign, and a whole number times a power of ten. */
function exact(number: string): { sign: string; digits: string; power: number } {
  const [, sign = '', whole = '', after = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = `${whole}${after}`.replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  const power = digits === '' ? 0 : Number(exponent) - after.length + all.length - digits.length;
  return { sign, digits, power };
}

describe('a JSON text of a peer', () => {
  it('has the keys that are written in it, whatever keys were read before', async () => {
    const key = fc.constantFrom('"', '\\', '\n', 'a', 'a"', 'a\\', '\\u', '\\u00', 'é', '', '__proto__', 'name');
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(1, -1.5e-7, true, null, '', '"\\', 'a\n'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((members) => new Map(members)),
      ),
    }));
    // neither JSON.stringify nor JSON.parse has a part in what is expected of the keys
    const written = (of: unknown, spell: (text: string) => string, space: string): string => {
      const items = (open: string, all: string[], close: string) => `${open}${space}${all.join(`${space},`)}${close}`;
      if (Array.isArray(of))
        return items(
          '[',
          of.map((one) => written(one, spell, space)),
          ']',
        );
      if (!(of instanceof Map)) return JSON.stringify(of);
      const members = [...of].map(
        ([name, inner]) => `"${spell(String(name))}"${space}:${written(inner, spell, space)}`,
      );
      return items('{', members, '}');
    };
    const plain = (of: unknown): unknown => {
      if (Array.isArray(of)) return of.map(plain);
      return of instanceof Map ? Object.fromEntries([...of].map(([name, inner]) => [name, plain(inner)])) : of;
    };
    const short = (text: string) => JSON.stringify(text).slice(1, -1);
    await fc.assert(
      fc.property(value, fc.constantFrom(short, spelledOut), fc.constantFrom('', ' ', '\n\t'), (one, spell, space) => {
        const text = `${space}${written(one, spell, space)}${space}`;
        expect(parseJson(text)).toEqual(plain(one));
      }),
      { numRuns: runs(5000) },
    );
  });

  it('has its numbers as they are written, where it is written again', () => {
    const digits = fc.stringMatching(/^[0-9]{1,25}$/).map((text) => text.replace(/^0+(?=.)/, ''));
    const part = fc.option(fc.stringMatching(/^[0-9]{1,25}$/), { nil: undefined });
    const power = fc.option(fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/), { nil: '' });
    const number = fc
      .tuple(fc.constantFrom('', '-'), digits, part, power)
      .map(([sign, whole, after, exponent]) => `${sign}${whole}${after === undefined ? '' : `.${after}`}${exponent}`);
    const known = fc.constantFrom('1e400', '-0', '-0.0', '1.0', '12345678901234567890', '9007199254740993', '1e-400');
    fc.assert(
      fc.property(
        fc.oneof(number, known),
        fc.constantFrom('[%]', '{"a":[true,{"__proto__":%}],"n\\u0061":null}'),
        (one, around) => {
          const json = JSON.stringify(parseExactly(around.replace('%', one)));
          const [, again = ''] = /[[:](-?[\d.][\d.eE+-]*)[\]}]/.exec(json) ?? [];
          // the same number, as a person would read it
          expect(exact(again)).toEqual(exact(one));
          expect(json.replace(again, '%').replace('na', 'n\\u0061')).toBe(around);
        },
      ),
      { numRuns: runs(5000) },
    );
    expect(parseExactly('{"a":1.0,"b":1E2}')).toEqual({ a: 1, b: 100 });
  });

  it('that is not JSON is refused as JSON.parse refuses it', () => {
    for (const text of ['', '{', '{"\\u0061":1', '{"\\u0061":1,}', '{"\\x":1}', '["\\u00"]', '[-01]', '[1e5'])
      for (const parse of [parseJson, parseExactly]) expect(() => parse(text)).toThrow(SyntaxError);
  });

  it('may be as deep as JSON.parse allows', () => {
    const deep = 200_000;
    let at = parseJson(`${'['.repeat(deep)}{"\\"":1}${']'.repeat(deep)}`);
    for (let depth = 0; depth < deep; depth++) at = (at as unknown[])[0];
    expect(at).toEqual({ '"': 1 });
  });

  it('cannot hide a name from Wharf that its server reads', () => {
    const poison = (key: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","${key}":"x"}}`;
    const hidden = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","n\\u0061me":"forbidden"}}`;
    for (let times = 0; times < 5; times++) JSON.parse(poison('n\\\\u0'));
    expect(() => parseMessages(Buffer.from(hidden))).toThrow(expect.objectContaining({ code: 'request_invalid' }));
  });
});

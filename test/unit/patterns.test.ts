import { describe, expect, it } from '@jest/globals';
import { attacksOn } from '../helpers/patterns/attacks.js';
import { graphOf } from '../helpers/patterns/graph.js';
import { type Pattern, parsePattern } from '../helpers/patterns/parse.js';
import { patternsIn, patternsOf } from '../helpers/patterns/sources.js';
import { StepCounter } from '../helpers/patterns/steps.js';
import { superlinearAttack } from '../helpers/patterns/superlinear.js';

/** Patterns whose time grows faster than their text, and what bounds the text. */
const BOUNDED: Readonly<Record<string, readonly RegExp[]>> = {
  'at most 4000 characters: `textOf` in gateway/inspect/argument.ts': [
    /base-?64(?:url)?[- ]?(?:encoded )?(?:(?!(?:image|picture|photo|png|jpe?g|svg|scan|pdf|file|document)s?\b)\w+ ){0,2}(?:cursor|credential|token|key|signature|nonce|hash|digest|checksum|salt|iv)s?\b/i,
  ],
  'at most 2000 characters, and 200 for each attempt: `redactText` in gateway/redact.ts': [
    /(data:[^,\s"']{0,200},)[A-Za-z0-9+/=_%-]+/gi,
  ],
  'at most 500 characters: `MAX_LABEL` in gateway/relay/results/told-names.ts': [
    /["'`“]([^"'`“”\n/\\]{1,120}\.[A-Za-z0-9]{1,8})["'`”]|([^\s"'`“”<>|*?:\\/()[\]]{1,120}\.[A-Za-z0-9]{1,8})(?![\w-])/g,
  ],
  'at most 600 characters: `MAX_ABOUT` in gateway/http/console/trying/tool-form.ts': [
    /(?:A file|Files)\b.{0,300}?\. Pass .*$/s,
  ],
};

/** Patterns that are made of texts that only a running program knows, and why they are safe. */
const MADE: Readonly<Record<string, string>> = {
  'gateway/schema/pattern-program.ts: source': 'one class of a pattern that a server chose, tried on one character',
  'gateway/schema/pattern-tree.ts: reader.outline': 'such a pattern without its classes: read, and never run',
  'gateway/config/schema/template.ts: `\\\\$${name}\\\\b`': 'the name of a placeholder: no repetition',
  "gateway/encodings.ts: `\\\\$(?:${placeholdersOf(kind).join('|')})\\\\b`": 'names of placeholders: no repetition',
  "gateway/json/marks.ts: all.map(escaped).join('|')": 'fixed texts, one beside the other: no repetition',
  'gateway/files/encode/temp-files.ts: `^wharf-${HOST}-(\\\\d{1,10})-[A-Za-z0-9]{6}$`': 'a hash in hexadecimal digits',
};

const { patterns, made } = patternsIn(['gateway', 'adapters']);
const write = ({ source, flags }: Pattern) => `/${source}/${flags}`;
const places = new Map<string, string[]>();
for (const one of patterns) places.set(write(one), [...(places.get(write(one)) ?? []), one.place]);

describe('every pattern of the sources', () => {
  it('is found', () => {
    expect(patterns.length).toBeGreaterThan(400);
    expect(made.sort()).toEqual(Object.keys(MADE).sort());
  });

  it('takes time that grows no faster than its text, except on short texts', () => {
    const excepted = Object.values(BOUNDED).flat().map(write);
    const unique = new Map(patterns.map((one) => [write(one), one]));
    const found = new Map<string, string>();
    for (const [written, pattern] of unique) {
      const attack = superlinearAttack(pattern);
      if (attack !== undefined) found.set(written, attack);
    }
    const unexpected = [...found].filter(([written]) => !excepted.includes(written));
    expect(unexpected.map(([written, attack]) => `${places.get(written)} ${written} on ${attack}`)).toEqual([]);
    // an exception that has become linear, or has gone
    expect(excepted.filter((written) => !found.has(written))).toEqual([]);
  });
});

describe('the check of patterns', () => {
  it.each([
    ['a run that does not end the text', /\s+$/],
    ['a run inside the text, where the first alternative matches at the start', /^\s+|\s+$/g],
    ['neighbouring repetitions of the same characters', /<!doctype\s*\s*html/],
    ['a repetition within a repetition', /(a+)+$/],
    ['a repetition of a repeated word', /^((?:ab)+)+$/],
    ['two ways to read one character', /^(a|a)*$/],
    ['an optional separator', /^(\w+\s?)*$/],
    ['words of several characters', /^(ab)*(ab)*$/],
    ['a search that begins again at each repetition of a word', /\[\n([^\]{}]*)\n *\]/g],
    ['a repetition that only one character ends', /(?:[^:]+:)*[^:]+$/],
    ['a repetition that begins again at each quotation mark', /"(?:\\?[^"])*"$/],
    ['repetitions with optional parts between them', /;\s*charset\s*=\s*("?)([^\s";]*)\s*$/],
    ['a search that begins again at each word', /\bfoo\w*\b[^.]*bar/],
    ['a repetition in a lookahead', /^(?=(?:a+)+$)b/],
    ['a repetition in a lookbehind', /(?<=a*)b/],
    ['a bound too large to count as one', /a.{0,1000}x/],
    ['a bounded repetition within a repetition', /^(?:a{0,9}){0,30}$/],
    ['lines', /^ *x *$| +$/gm],
  ])('finds %s: %s', (_, { source, flags }) => {
    expect(superlinearAttack({ source, flags })).toEqual(expect.stringContaining('.repeat(n)'));
  });

  it.each([
    ['one repetition at the start', /^a*b$/],
    ['a repetition after a character that it does not contain', /:\d+$/],
    ['a repetition that always matches', /[?#].*$/s],
    ['a run that is looked at from its beginning only', /(?<!\s)\s+$/],
    ['parts with a separator', /^([a-z0-9]+\.)+[a-z]+$/],
    ['a search that does not move on', /a*b/y],
    ['a small bound', /a{0,50}b/],
  ])('lets %s pass: %s', (_, { source, flags }) => {
    expect(superlinearAttack({ source, flags })).toBeUndefined();
  });

  it('counts the steps of what the engine of the language finds', () => {
    // higher bounds are counted as others
    const exact = patterns.filter(({ source }) => !/\{\d*[5-9]|\{\d*,?\d\d/.test(source));
    expect(exact.length).toBeGreaterThan(250);
    const unlike = exact.filter(({ source, flags }) => {
      const parsed = parsePattern({ source, flags });
      const counter = new StepCounter(parsed);
      const engine = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
      const texts = attacksOn(graphOf(parsed)).map(({ prefix, pump }) => `${prefix}${pump.repeat(3)} ${prefix}\n`);
      return [...new Set(texts), ...patterns.slice(0, 40).map((other) => other.source)].some(
        (text) => JSON.stringify(counter.matchesOf(text)) !== JSON.stringify(text.match(engine) ?? []),
      );
    });
    expect(unlike.map(write)).toEqual([]);
  });

  it('reads literals, and patterns made of constants', () => {
    const text = `
      const NAME = String.raw\`[a-z]\\d*\`;
      export const LIST = new RegExp(\`^\${NAME}(?:,\${NAME})*$\`, 'i');
      const of = (word: string) => RegExp(word);
      const isLetter = (value: string): boolean => /[a-z]+/u.test(value); // not /this+/
    `;
    expect(patternsOf('some/file.ts', text)).toEqual({
      patterns: [
        { place: 'some/file.ts:3', source: '^[a-z]\\d*(?:,[a-z]\\d*)*$', flags: 'i' },
        { place: 'some/file.ts:5', source: '[a-z]+', flags: 'u' },
      ],
      made: ['some/file.ts: word'],
    });
  });
});

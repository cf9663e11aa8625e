import { declaredEncoding } from '../encodings.js';
import { countText } from '../policy/amounts.js';
import type { Encoding } from '../ports/file-slot.js';
import { fixedValue, textOf } from './argument.js';
import { certain, likely, never, possible, type Rule } from './clue.js';
import { isHolder, isMedia, wordsOf } from './words.js';

/** OpenAPI's `byte` is base64; the others are in common use. */
const FORMATS: Record<string, Encoding> = {
  byte: 'base64',
  base64: 'base64',
  base64url: 'base64url',
  'data-uri': 'dataUri',
  'data-url': 'dataUri',
  datauri: 'dataUri',
  dataurl: 'dataUri',
};

const OTHER_FORMATS =
  /^(date|time|date-time|duration|email|idn-email|hostname|idn-hostname|ipv4|ipv6|uuid|regex|color|password|json-pointer|uri-template)$/;

/** The first characters of PNG, JPEG, GIF, PDF, ZIP, RIFF and MP3 files in base64. */
const MAGIC = /^(iVBORw0KGgo|\/9j\/|R0lGOD|JVBERi|UEsDB|UklGR|SUQz)/;

/** Shorter texts hold no file worth a link. */
const SHORT = 128;

/** Rules for a schema's own keywords about encodings. */
export const SCHEMA_RULES: readonly Rule[] = [
  {
    source: 'schema',
    name: 'contentEncoding',
    test: ({ schema }) => {
      const encoding = declaredEncoding({ contentEncoding: schema.contentEncoding });
      return encoding && certain(encoding, `contentEncoding is ${textOf(schema.contentEncoding)}`);
    },
  },
  {
    source: 'schema',
    name: 'format',
    test: ({ schema }) => {
      const format = textOf(schema.format).toLowerCase();
      // Pydantic writes it for `bytes`, of which it takes the text as it is: base64 would arrive as text
      if (format === 'binary') return possible('base64', 'format is binary: base64, or in Python (bytes) plain text');
      const encoding = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
      return encoding && certain(encoding, `format is ${format}`);
    },
  },
  {
    source: 'schema',
    name: 'pattern',
    test: ({ schema }) => {
      const pattern = textOf(schema.pattern);
      if (/^\^?data:/.test(pattern)) return certain('dataUri', 'its pattern begins with data:');
      return /A-Za-z0-9\+\\?\//.test(pattern) ? likely('base64', 'its pattern is the alphabet of base64') : undefined;
    },
  },
  {
    source: 'schema',
    name: 'examples',
    test: ({ schema }) => {
      const examples = [schema.default, schema.example, ...(Array.isArray(schema.examples) ? schema.examples : [])];
      const texts = examples.map(textOf);
      if (texts.some((text) => /^data:[^,]*;base64/i.test(text))) return likely('dataUri', 'its example is a data URI');
      return texts.some((text) => MAGIC.test(text)) ? likely('base64', 'its example is a file in base64') : undefined;
    },
  },
  {
    source: 'schema',
    name: 'contentMediaType',
    test: ({ schema }) => {
      const type = textOf(schema.contentMediaType);
      if (!/^(image|audio|video|font)\/|^application\/(pdf|zip|octet-stream|vnd\.)/i.test(type)) return undefined;
      return likely('base64', `contentMediaType is ${type}, which no text can hold as it is`);
    },
  },
  {
    source: 'schema',
    name: 'list of bytes',
    test: ({ shape, schema, name, description, siblings }) => {
      if (shape !== 'bytes') return undefined;
      if (fixedValue(siblings.type) === 'Buffer')
        return likely('bytes', '"type" beside it is always "Buffer", as Node.js writes bytes');
      const isByte = schema.minimum === 0 && schema.maximum === 255;
      const speaksOfBytes = /\bbytes?\b|\buint8/i.test(`${wordsOf(name).join(' ')} ${description}`);
      const isContent = wordsOf(name).some((word) => isHolder(word) || isMedia(word));
      if (isByte && (speaksOfBytes || isContent)) return likely('bytes', 'it is a list of numbers from 0 to 255');
      return isByte || speaksOfBytes
        ? possible('bytes', 'it may be a list of bytes')
        : never('it is a list of numbers');
    },
  },
  {
    source: 'schema',
    name: 'fixed values',
    test: ({ schema }) =>
      schema.enum !== undefined || schema.const !== undefined ? never('it has fixed values') : undefined,
  },
  {
    source: 'schema',
    name: 'flag',
    test: ({ isFlag }) => (isFlag ? never('it may be true or false') : undefined),
  },
  {
    source: 'schema',
    name: 'other format',
    test: ({ schema }) =>
      OTHER_FORMATS.test(textOf(schema.format)) ? never(`its format is ${textOf(schema.format)}`) : undefined,
  },
  {
    source: 'schema',
    name: 'too short',
    test: ({ schema, shape }) =>
      shape === 'text' && typeof schema.maxLength === 'number' && schema.maxLength < SHORT
        ? never(`it has ${countText(schema.maxLength, 'character')} at most`)
        : undefined,
  },
];

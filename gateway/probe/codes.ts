import { randomInt } from 'node:crypto';

/** Where a result can hold something. Each has a code of its own, and what a model names tells what it was shown. */
const PLACES = [
  'text',
  'besideText',
  'besideJson',
  'besidePicture',
  'picture',
  'linkAddress',
  'linkMeta',
  'linkContent',
  'resourceText',
  'blobAddress',
  'blobContent',
  'blobBase64',
  'errorText',
  'errorPicture',
  'errorBase64',
  'forUser',
  'forAssistant',
] as const;

export type Place = (typeof PLACES)[number];
export type Codes = Readonly<Record<Place, string>> & {
  /** Codes of a long text, each with the number of characters up to its end. */
  readonly long: readonly { readonly code: string; readonly at: number }[];
};

/** How far the long text goes: around the limits that hosts are known to have. */
const LENGTHS = [1000, 7000, 9000, 24_000, 38_000, 42_000, 48_000, 52_000, 90_000, 110_000, 190_000, 210_000];

const LETTERS = 'ABCDEFGHKMNPQRSTUVWXYZ';

/** Pictures show digits. */
const IN_PICTURES: ReadonlySet<Place> = new Set(['besidePicture', 'picture', 'errorPicture']);

/** Codes that no model can guess, each one different. */
export function makeCodes(): Codes {
  const used = new Set<string>();
  const fresh = (make: () => string): string => {
    for (;;) {
      const code = make();
      if (used.has(code)) continue;
      used.add(code);
      return code;
    }
  };
  const digits = () => String(randomInt(10_000_000, 100_000_000));
  const word = () =>
    Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join('') + randomInt(1000, 10_000);
  const placed = PLACES.map((place) => [place, fresh(IN_PICTURES.has(place) ? digits : word)]);
  return {
    ...(Object.fromEntries(placed) as Record<Place, string>),
    long: LENGTHS.map((at) => ({ code: fresh(word), at })),
  };
}

/**
 * Bytes whose base64 reads as the code, if they begin at a multiple of three: so a model that is shown base64 as text
 * can name it, and one that is shown the file cannot.
 */
export function spelled(code: string): Buffer {
  return Buffer.from(code, 'base64');
}

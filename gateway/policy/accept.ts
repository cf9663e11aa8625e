/**
 * Names of one type, or of types that systems give to the same files: Windows gives CSV the type of Excel's files. Each
 * type is in at most one group.
 */
const ALIKE: readonly (readonly string[])[] = [
  [
    'text/csv',
    'application/csv',
    'text/x-csv',
    'application/x-csv',
    'text/comma-separated-values',
    'application/vnd.ms-excel',
  ],
  ['image/jpeg', 'image/jpg', 'image/pjpeg'],
  ['image/png', 'image/x-png'],
  ['image/bmp', 'image/x-bmp', 'image/x-ms-bmp'],
  ['image/tiff', 'image/tif'],
  ['image/x-icon', 'image/vnd.microsoft.icon'],
  ['application/pdf', 'application/x-pdf'],
  ['application/zip', 'application/x-zip-compressed', 'application/x-zip'],
  ['application/gzip', 'application/x-gzip'],
  ['application/x-tar', 'application/tar'],
  ['application/x-7z-compressed', 'application/x-7z'],
  ['application/json', 'text/json', 'application/x-json'],
  ['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/x-jsonlines'],
  ['application/xml', 'text/xml'],
  ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml', 'text/vnd.yaml'],
  ['text/javascript', 'application/javascript', 'application/x-javascript', 'application/ecmascript'],
  ['text/markdown', 'text/x-markdown'],
  ['application/rtf', 'text/rtf'],
  ['audio/mpeg', 'audio/mp3', 'audio/x-mp3'],
  ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  ['audio/mp4', 'audio/m4a', 'audio/x-m4a'],
  ['audio/flac', 'audio/x-flac'],
  ['application/vnd.apache.parquet', 'application/x-parquet'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'application/docx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'application/xlsx'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'application/pptx'],
];

const FIRST_OF = new Map(ALIKE.flatMap((names) => names.map((name) => [name, names[0] as string] as const)));

/** Types that mean "some bytes"; in a list of accepted types they mean any file. */
const ANYTHING = new Set([
  '*',
  '*/*',
  'application/octet-stream',
  'binary/octet-stream',
  'application/binary',
  'application/x-binary',
  'application/unknown',
]);

/** Files of these types all begin alike. */
const ALWAYS_SHOWN = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

const TEXTUAL = /^text\/|^application\/(?:.*[+.-])?(?:json|xml|yaml|javascript|ndjson|sql|toml|graphql|csv)$/;

/** True when two names mean the same type. */
export function isSameType(one: string, other: string): boolean {
  return (FIRST_OF.get(one) ?? one) === (FIRST_OF.get(other) ?? other);
}

/** True when an accept list with this type says nothing about the files. */
export function isAnyType(type: string): boolean {
  return ANYTHING.has(essence(type));
}

/** True when a file fits one media type, or `image/*`. Types that are commonly confused count as one. */
export function fitsType(wanted: string, mimeType: string): boolean {
  const [entry, type] = [essence(wanted), essence(mimeType)];
  if (ANYTHING.has(entry) || isSameType(entry, type)) return true;
  if (entry.endsWith('/*')) return type.startsWith(entry.slice(0, -1));
  return entry === 'text/plain' && type.startsWith('text/');
}

/** True for a type that every file of it shows by its first bytes, so that none of them is empty. */
export function alwaysShows(mimeType: string): boolean {
  return ALWAYS_SHOWN.has(mimeType);
}

/** True for text types, which first bytes rarely tell apart. */
export function isTextual(type: string): boolean {
  return TEXTUAL.test(essence(type));
}

/**
 * True when a file fits `accept` (SEP-2356). Media types are compared without parameters and case; `image/*` takes
 * every subtype; an extension is only a hint for file pickers, so a list of only extensions takes anything.
 */
export function isAccepted(accept: readonly string[] | undefined, mimeType: string): boolean {
  const types = accept?.filter((entry) => entry.includes('/')) ?? [];
  return types.length === 0 || types.some((entry) => fitsType(entry, mimeType));
}

/**
 * One list of what all of these accept, for who picks a file; undefined: anything. Where they have no type in common it is
 * the first list: which file fits is said of each file.
 */
export function acceptedByAll(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  return lists.reduce((common, list) => {
    if (common === undefined || list === undefined) return common ?? list;
    const both = [
      ...common.filter((entry) => !entry.includes('/') || isAccepted(list, entry)),
      ...list.filter((entry) => entry.includes('/') && isAccepted(common, entry)),
    ];
    return both.length === 0 ? common : [...new Set(both)];
  }, undefined);
}

/** Turns `IMAGE/PNG; charset=x` into `image/png`. */
export function essence(mimeType: string): string {
  return (mimeType.split(';', 1)[0] as string).trim().toLowerCase();
}

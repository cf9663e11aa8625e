/** `imageBase64`, `image_base64` and `image-b64` give the same words; a plural becomes its singular. */
export function wordsOf(name: string): string[] {
  const found = name.match(/[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|\d+/g) ?? [];
  return found.map((word) => singular(word.toLowerCase()));
}

/** The words joined, so that `filename`, `file_name` and `fileName` are equal. */
export function joined(name: string): string {
  return wordsOf(name).join('');
}

function singular(word: string): string {
  return /[^su]s$/.test(word) && word.length > 3 && !/^(alias|canvas|bytes)$/.test(word) ? word.slice(0, -1) : word;
}

/** Words for files, but never for a text that a model would write by itself. */
const MEDIA = new Set(
  'image img photo picture screenshot thumbnail avatar logo icon audio video voice recording wav mp3 mp4 png jpg jpeg gif webp tiff pdf docx xlsx pptx zip archive media scan attachment blob'.split(
    ' ',
  ),
);

/** Words for content, which may also be a text. */
const HOLDER = new Set(
  'data content contents bytes byte buffer payload binary raw body string file document doc upload'.split(' '),
);

/** Whether a word of a name means a file of some kind. */
export const isMedia = (word: string | undefined): boolean => word !== undefined && MEDIA.has(word);
/** Whether a word of a name means content, which may also be a text. */
export const isHolder = (word: string | undefined): boolean => word !== undefined && HOLDER.has(word);

/** What the rest of Wharf needs to know about an encoding; `files/encode` writes it. */
interface EncodingFacts {
  /** The argument's content, for the config reference. */
  about: string;
  /**
   * The argument contains only an address, however large the file is: a link of Wharf's, or the place of a temporary
   * file.
   */
  address?: 'link' | 'path' | 'uri';
  /** It contains the file's name. */
  carriesName?: true;
  /** The tool's callers also write strings there that are not files, and the empty string is an ordinary value. */
  isPlainText?: true;
}

/**
 * The one list of encodings of a file in an argument. A new one needs a row here, an encoder in `files/encode`, and its
 * line in the list there.
 */
export const ENCODINGS = {
  base64: { about: 'base64' },
  base64url: { about: 'base64 in the alphabet for URLs' },
  hex: { about: 'hexadecimal' },
  dataUri: { about: 'a data URI' },
  dataUriNamed: { about: 'a data URI with `name=` in it', carriesName: true },
  text: { about: 'the text itself', isPlainText: true },
  object: { about: 'an object made from `template`', carriesName: true },
  bytes: { about: 'a list of bytes' },
  httpsUrl: { about: 'a link of Wharf’s', address: 'link', isPlainText: true },
  localPath: { about: 'the path of a temporary file, for stdio servers', address: 'path', isPlainText: true },
  fileUri: { about: 'the `file:` URI of a temporary file, for stdio servers', address: 'uri', isPlainText: true },
} as const satisfies Readonly<Record<string, EncodingFacts>>;

/** The name of an encoding, as the config writes it. */
export type Encoding = keyof typeof ENCODINGS;

/** The facts about an encoding. */
export function encodingFacts(encoding: Encoding): EncodingFacts {
  return ENCODINGS[encoding];
}

/** JSON Schema's `contentEncoding`: names of RFC 2045 and RFC 4648, in any case, as far as an argument may be a file. */
const CONTENT_ENCODINGS = new Map<string, Encoding>([
  ['base64', 'base64'],
  ['base64url', 'base64url'],
  ['base16', 'hex'],
]);

/**
 * The encoding of a file that a schema declares: by `contentEncoding`, or by `format: base64`, as Pydantic writes the
 * `Base64Bytes` of servers in Python. OpenAPI's `format: byte` is not among them: it also stands for keys and signatures.
 */
export function declaredEncoding({
  contentEncoding,
  format,
}: {
  contentEncoding?: unknown;
  format?: unknown;
}): Encoding | undefined {
  if (typeof contentEncoding === 'string') return CONTENT_ENCODINGS.get(contentEncoding.toLowerCase());
  return format === 'base64' ? 'base64' : undefined;
}

/**
 * The placeholders of a template, without their `$`. `content`: the file's bytes in the encoding of that name. `link`:
 * an address of the file. `fact`: a fact about it.
 */
export const PLACEHOLDERS = {
  base64: 'content',
  base64url: 'content',
  hex: 'content',
  dataUri: 'content',
  text: 'content',
  bytes: 'content',
  url: 'link',
  handle: 'link',
  mime: 'fact',
  name: 'fact',
  size: 'fact',
  sha256: 'fact',
} as const satisfies Readonly<Record<string, 'content' | 'link' | 'fact'>>;

/** The name of a placeholder in a `template`, without its `$`. */
export type Placeholder = keyof typeof PLACEHOLDERS;

/** The placeholders of one kind. */
export function placeholdersOf(kind: (typeof PLACEHOLDERS)[Placeholder]): Placeholder[] {
  return (Object.keys(PLACEHOLDERS) as Placeholder[]).filter((name) => PLACEHOLDERS[name] === kind);
}

const PATTERNS = { content: patternOf('content'), link: patternOf('link') };

/** True when a template asks for a file's content, or for its address. */
export function asksFor(kind: 'content' | 'link', template: unknown): boolean {
  return template !== undefined && PATTERNS[kind].test(JSON.stringify(template));
}

function patternOf(kind: 'content' | 'link'): RegExp {
  return new RegExp(`\\$(?:${placeholdersOf(kind).join('|')})\\b`);
}

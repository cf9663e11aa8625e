import fc from 'fast-check';

export const LIMITS = {
  inlineImage: 300,
  inlineOther: 90,
  inlineResource: 600,
  file: 10_000,
  spool: 20_000,
  response: 200_000,
};

export const FILES = 'dev.wharf/files';
/** What a block has besides its file, with numbers that no double holds. */
const EXTRAS = { annotations: '{"priority":-0,"at":1e400}', _meta: '{"id":[12345678901234567890]}' };
const FORGED = `,"${FILES}":[{"uri":"x"}]`;

/** Ways to write base64 in JSON that all mean the same bytes. */
export const SPELLINGS: Readonly<Record<string, (base64: string) => string>> = {
  canonical: (text) => text,
  slashes: (text) => text.replaceAll('/', '\\/'),
  escapes: (text) => text.replaceAll('+', '\\u002b').replaceAll('=', '\\u003D'),
  lines: (text) => text.replaceAll(/.{76}/g, '$&\\n'),
  indented: (text) => text.replaceAll(/.{57}/g, '$&\\r\\n \\t'),
  urlSafe: (text) => text.replaceAll('+', '-').replaceAll('/', '_'),
  unpadded: (text) => text.replace(/=+$/, ''),
  mixed: (text) =>
    text
      .replace(/=+$/, '')
      .replaceAll(/.{64}/g, '$&\n')
      .replaceAll('+', '-')
      .replaceAll('/', '\\u002F')
      .replaceAll('\n', '\\n'),
};

interface FileSpec {
  bytes: Buffer;
  spelling: string;
}

type Block =
  | { kind: 'image' | 'audio' | 'blob' | 'picture' | 'archive' | 'hologram'; file: FileSpec; extras: boolean }
  | { kind: 'text'; text: string };

type Structured = FileSpec | string | Structured[] | { [key: string]: Structured };

export interface Spec {
  method: 'tools/call' | 'tasks/get' | 'prompts/get' | 'resources/read';
  blocks: Block[];
  structured: Structured | undefined;
  /** The result's own `_meta`, as JSON text. */
  meta: 'none' | 'empty' | 'null' | 'others' | 'files';
  /** Order of keys, whitespace and escaped keys follow from it. */
  layout: number;
}

/** The same bytes for the same size and seed, so that files repeat. */
function bytesOf([size, seed]: readonly [number, number]): Buffer {
  const random = randomFrom(size * 4 + seed + 1);
  return Buffer.from(Array.from({ length: size }, () => random(256)));
}

const sizes = fc.oneof(
  fc.integer({ min: 0, max: 120 }),
  fc.constantFrom(89, 90, 91, 299, 300, 301, 599, 600, 601, 1024, 1025, 2048),
  fc.integer({ min: 700, max: 3000 }),
);
const files = fc.record({
  bytes: fc.tuple(sizes, fc.nat(1)).map(bytesOf),
  spelling: fc.constantFrom(...Object.keys(SPELLINGS)),
});
/** Raw JSON text of strings that are not base64, or that no dialect claims. */
const texts = fc.constantFrom(
  '""',
  '"t"',
  '"\\u00e9\\ud83d \\/ \u2028"',
  `"${'no base64. '.repeat(60)}"`,
  `"${'x'.repeat(801)}"`,
);
const blocks: fc.Arbitrary<Block> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('image', 'audio', 'blob', 'picture', 'archive', 'hologram'),
      file: files,
      extras: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: texts.map((text) => ({ kind: 'text' as const, text })) },
);
const structureds = fc.letrec<{ node: Structured }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    files,
    texts,
    fc.constantFrom('1e400', '-0', '12345678901234567890', 'null', 'true'),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b/c', '~', 'data', '\u00e4'), tie('node'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
})).node;

export const specs: fc.Arbitrary<Spec> = fc.record({
  method: fc.constantFrom('tools/call', 'tools/call', 'tasks/get', 'prompts/get', 'resources/read'),
  blocks: fc.array(blocks, { maxLength: 5 }),
  structured: fc.option(
    // only what stands below structuredContent can be a file
    structureds.map((node) => (typeof node === 'string' || isFile(node) ? { d: node } : node)),
    { nil: undefined },
  ),
  meta: fc.constantFrom('none', 'none', 'empty', 'null', 'others', 'files'),
  layout: fc.nat(),
});

/** A file that must leave the message: where it stands, and what its bytes are. */
interface Due {
  bytes: Buffer;
  /** Members of its block, as JSON text, which must be on the first that replaces it. */
  extras: Partial<typeof EXTRAS>;
  at: { index: number } | { pointer: string };
}

export interface Written {
  /** The message as the server sends it. */
  sent: string;
  /** In the order of `_meta["dev.wharf/files"]`: blocks first, then copies in structuredContent. */
  due: Due[];
  /** The message as the client must get it. @param list what its list of files says @param blocks what it has for each block */
  expected: (list: readonly { url: string }[], blocks: readonly (readonly unknown[])[]) => string;
}

/** Writes a message, and knows by walking the whole of it what must become of each byte. */
export function write(spec: Spec, id: number, allowLineFeeds: boolean): Written {
  const random = randomFrom(spec.layout);
  const marks: {
    original: string;
    replaced: (list: readonly { url: string }[], blocks: readonly (readonly unknown[])[]) => string;
  }[] = [];
  const due: Due[] = [];
  const copies: Due[] = [];
  const isOver = (block: Block) =>
    block.kind !== 'text' && isKnown(spec, block) && block.file.bytes.length > limitOf(spec, block);
  const over = spec.blocks.filter(isOver) as Extract<Block, { file: FileSpec }>[];
  const published = new Set(over.map(({ file }) => file.bytes.toString('hex')));

  const mark = (original: string, replaced: (typeof marks)[number]['replaced']) =>
    `\ue000${marks.push({ original, replaced }) - 1}\ue001`;
  const space = () => ['', '', '', ' ', '\t ', allowLineFeeds ? '\n' : ' '][random(6)] as string;
  const key = (name: string) =>
    random(5) > 0 || name === ''
      ? JSON.stringify(name)
      : `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${JSON.stringify(name.slice(1)).slice(1)}`;
  const array = (items: readonly string[]) => `[${space()}${items.join(`${space()},${space()}`)}${space()}]`;
  const object = (members: Record<string, string | undefined>, first = '') => {
    const present = shuffled(
      Object.entries(members).filter(([, value]) => value !== undefined),
      random,
    );
    return `{${first}${space()}${present.map(([name, value]) => `${key(name)}${space()}:${space()}${value}`).join(`${space()},${space()}`)}${space()}}`;
  };

  const structured = (node: Structured, path: string): string => {
    if (typeof node === 'string') return node;
    if (Array.isArray(node)) return array(node.map((item, index) => structured(item, `${path}/${index}`)));
    if (isFile(node)) {
      const text = spelled(node);
      if (!published.has(node.bytes.toString('hex'))) return text;
      const copy = { bytes: node.bytes, at: { pointer: path }, extras: {} };
      copies.push(copy);
      return mark(text, (list) => JSON.stringify(list[over.length + copies.indexOf(copy)]?.url));
    }
    const entries = Object.entries(node).map(
      ([name, value]) =>
        [name, (): string => structured(value, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)] as const,
    );
    // the order in which they are written is the order of the list
    const inOrder = shuffled(entries, random).map(([name, text]) => `${key(name)}:${space()}${text()}`);
    return `{${inOrder.join(`,${space()}`)}}`;
  };

  const holder = (block: Block, index: number): string => {
    const text = spec.method === 'resources/read' ? resource(block) : blockText(block);
    if (!isOver(block)) return text;
    const { file, extras } = block as Extract<Block, { file: FileSpec }>;
    const kept = spec.method === 'resources/read' ? { _meta: EXTRAS._meta } : EXTRAS;
    const position = due.push({ bytes: file.bytes, at: { index }, extras: extras ? kept : {} }) - 1;
    return mark(text, (_, sent) => (sent[position] ?? []).map((sentBlock) => JSON.stringify(sentBlock)).join(','));
  };
  const blockText = (block: Block): string => {
    if (block.kind === 'text') return object({ type: '"text"', text: block.text });
    const { kind, file } = block;
    const extras = block.extras ? EXTRAS : {};
    if (kind === 'blob') {
      const inner = object({ uri: '"a:b"', blob: spelled(file), mimeType: '"a/b"', ...extras });
      return object({ type: '"resource"', resource: inner, ...extras });
    }
    if (kind === 'picture' || kind === 'archive') {
      const head = kind === 'picture' ? 'data:image\\/png;base64,' : 'data:application/zip;name=a.zip;base64,';
      return object({ type: '"text"', text: `"${head}${spelled(file).slice(1)}`, ...extras });
    }
    return object({
      type: `"${kind}"`,
      data: spelled(file),
      mimeType: '"image/png"',
      odd: '[1e400,{"data":"x"}]',
      ...extras,
    });
  };
  const resource = (block: Block): string =>
    object(
      block.kind === 'text'
        ? { uri: '"a:b"', text: block.text }
        : { uri: '"c:d"', blob: spelled(block.file), ...(block.extras ? { _meta: EXTRAS._meta } : {}) },
    );

  const inner = (): string => {
    const list = (entries: readonly unknown[]) => `${JSON.stringify(FILES)}:${JSON.stringify(entries)}`;
    const isRewritten = over.length > 0;
    const meta = (): string | undefined => {
      switch (spec.meta) {
        case 'none':
          return undefined;
        case 'null':
          return isRewritten ? mark('null', (entries) => `{${list(entries)}}`) : 'null';
        case 'empty':
          return isRewritten ? `{${mark('', list)} }` : '{ }';
        case 'others':
          return isRewritten ? `{${mark('', (entries) => `${list(entries)},`)}"n":1e400}` : '{"n":1e400}';
        case 'files':
          // what the server says in Wharf's name is blanked, whether Wharf has something to say there or not
          return `{${isRewritten ? mark('', (entries) => `${list(entries)},`) : ''}"a":1${mark(FORGED, () => ' '.repeat(FORGED.length))}}`;
      }
    };
    const first = isRewritten && spec.meta === 'none' ? mark('', (entries) => `"_meta":{${list(entries)}},`) : '';
    const items = spec.blocks.map(holder);
    const lists = {
      'tools/call': { content: array(items) },
      'tasks/get': { content: array(items) },
      'prompts/get': { messages: array(items.map((item) => object({ role: '"user"', content: item }))) },
      'resources/read': { contents: array(items) },
    }[spec.method];
    const node = spec.structured === undefined ? undefined : structured(spec.structured, '');
    return object({ ...lists, _meta: meta(), structuredContent: node, n: '1e400' }, first);
  };

  const result = spec.method === 'tasks/get' ? object({ status: '"completed"', result: inner() }) : inner();
  const text = object({ jsonrpc: '"2.0"', id: String(id), result });
  const filled = (fill: (mark: (typeof marks)[number]) => string): string => {
    let out = text;
    while (out.includes('\ue000'))
      out = out.replace(/\ue000(\d+)\ue001/g, (_, index) => fill(marks[index] as (typeof marks)[number]));
    return out;
  };
  return {
    sent: filled(({ original }) => original),
    due: [...due, ...copies],
    expected: (list, sentBlocks) => filled(({ replaced }) => replaced(list, sentBlocks)),
  };
}

/** An item of resources/read has no type that could be unknown. */
function isKnown(spec: Spec, block: Block): boolean {
  return block.kind !== 'hologram' || spec.method === 'resources/read';
}

function limitOf(spec: Spec, block: Block): number {
  if (spec.method === 'resources/read') return LIMITS.inlineResource;
  return block.kind === 'image' ? LIMITS.inlineImage : LIMITS.inlineOther;
}

function spelled({ bytes, spelling }: FileSpec): string {
  return `"${SPELLINGS[spelling]?.(bytes.toString('base64'))}"`;
}

function isFile(node: Structured): node is FileSpec {
  return typeof node === 'object' && 'bytes' in node && Buffer.isBuffer(node.bytes);
}

/** Numbers below what it is asked for, the same ones for the same seed (mulberry32). */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function shuffled<T>(list: readonly T[], random: (below: number) => number): T[] {
  const out = [...list];
  for (let at = out.length - 1; at > 0; at--) {
    const other = random(at + 1);
    [out[at], out[other]] = [out[other] as T, out[at] as T];
  }
  return out;
}

import { lightValue } from '../../../json/light-value.js';
import { isObject } from '../../../json/value.js';
import { RANGE } from '../../../mcp/ranges.js';
import type { Limits } from '../../../policy/limits.js';
import type { ClientFacts } from '../../../ports/client.js';
import type { Host } from '../../../ports/host.js';
import type { JsonPath, JsonValue } from '../../../ports/json.js';
import { pointer } from '../../../wire/json/pointer.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import { isStructured, type MessageCuts } from '../../cut/message-cuts.js';

type Room = Pick<Host, 'imagesPerResult' | 'imageBytesPerResult'>;

/** Lengths of base64 in one message. */
interface Lengths {
  /** By place: of strings that were taken out of the message; undefined for a file. */
  lengths: ReadonlyMap<string, number | undefined>;
  /** By result and length: number of strings in its structuredContent. */
  copies: ReadonlyMap<string, number>;
}

/** Bytes behind a length of base64. */
const BYTES_PER_CHAR = 3 / 4;

/** True when the host shows only so many images of a result. */
export function hasImageRoom(host: Room | undefined): boolean {
  return host?.imagesPerResult !== undefined || host?.imageBytesPerResult !== undefined;
}

/** As many images as a host may be shown of a result: its own, and previews of its files. */
export function mostImages(content: readonly JsonValue[], host: Host | undefined, isError: boolean): number {
  if (host?.images === 'drop' || (isError && host?.errorImages !== 'keep')) return 0;
  const blocks = content.filter((block) => {
    if (!isObject(block)) return false;
    return block.type === 'image' || (isObject(block.resource) && block.resource.blob !== undefined);
  });
  return Math.min(blocks.length, host?.imagesPerResult ?? Number.POSITIVE_INFINITY);
}

/** The images of one message that its client's host shows, result by result, in the order in which they come. */
export class ImageRoom {
  readonly #host: Room;
  readonly #used = new Map<string, { count: number; bytes: number }>();
  readonly #beyond = new Set<string>();

  constructor({ host }: Pick<ClientFacts, 'host'>) {
    this.#host = host ?? {};
  }

  /** Gives small images, which stay as they are, their room before previews get any. */
  static of(message: HeldMessage, cuts: MessageCuts, client: ClientFacts, limits: Pick<Limits, 'values'>): ImageRoom {
    const room = new ImageRoom(client);
    if (!hasImageRoom(client.host)) return room;
    const lengths = new Map(cuts.cuts.map(({ value, inline }) => [pointer(value.path), inline && sizeOf(inline)]));
    const copies = copiesIn(cuts, client);
    for (const range of message.ranges) {
      if (range.name !== RANGE.content) continue;
      const content = lightValue(message, range, limits);
      if (Array.isArray(content)) room.#takeInline(content, range.path, { lengths, copies });
    }
    return room;
  }

  /** True when there is no room for this block's image. */
  isBeyond(block: JsonPath): boolean {
    return this.#beyond.has(pointer(block));
  }

  /** Gives an image room in its result. False when its room is used up. */
  take(result: JsonPath, bytes: number): boolean {
    const { imagesPerResult = Number.POSITIVE_INFINITY, imageBytesPerResult = Number.POSITIVE_INFINITY } = this.#host;
    const key = pointer(result);
    const used = this.#used.get(key) ?? { count: 0, bytes: 0 };
    if (used.count >= imagesPerResult || used.bytes + bytes > imageBytesPerResult) return false;
    this.#used.set(key, { count: used.count + 1, bytes: used.bytes + bytes });
    return true;
  }

  #takeInline(content: readonly JsonValue[], path: JsonPath, { lengths, copies }: Lengths): void {
    const result = path.slice(0, -1);
    for (const [index, block] of content.entries()) {
      if (!isObject(block) || block.type !== 'image' || typeof block.data !== 'string') continue;
      const at = [...path, index];
      const cut = pointer([...at, 'data']);
      const length = lengths.has(cut) ? lengths.get(cut) : block.data.length;
      // a file has a preview, which comes later
      if (length === undefined) continue;
      const times = 1 + (copies.get(copyOf(result, length)) ?? 0);
      if (!this.take(result, Math.floor(times * length * BYTES_PER_CHAR))) this.#beyond.add(pointer(at));
    }
  }
}

/**
 * How many strings of structuredContent are as long as an image that they may repeat: its result is longer by them, unless
 * it loses its structuredContent.
 */
function copiesIn({ cuts }: MessageCuts, { host }: ClientFacts): Lengths['copies'] {
  const copies = new Map<string, number>();
  if (host?.structured === 'drop' || host?.imageBytesPerResult === undefined) return copies;
  for (const cut of cuts) {
    const at = cut.value.path.indexOf('structuredContent');
    if (!cut.inline || !isStructured(cut) || at < 0) continue;
    const key = copyOf(cut.value.path.slice(0, at), sizeOf(cut.inline));
    copies.set(key, (copies.get(key) ?? 0) + 1);
  }
  return copies;
}

function copyOf(result: JsonPath, length: number): string {
  return `${length} ${pointer(result)}`;
}

/** Bytes of a string in pieces. */
export function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

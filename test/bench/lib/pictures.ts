import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { type PictureName, picturePath } from '../servers/picture.js';

/** Pixels, three bytes each. */
interface Canvas {
  data: Buffer;
  width: number;
  height: number;
}

type Colour = readonly [number, number, number];

interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** xorshift32: the same numbers on every run, below `below`. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

function canvas(width: number, height: number): Canvas {
  return { data: Buffer.alloc(width * height * 3, 255), width, height };
}

/** An area that goes from one colour at its top to another at its bottom. */
function fill(on: Canvas, { left, top, width, height }: Area, from: Colour, to: Colour = from): void {
  for (let y = 0; y < height; y++) {
    const pixel = Buffer.from(from.map((value, at) => Math.round(value + (((to[at] ?? 0) - value) * y) / height)));
    const start = ((top + y) * on.width + left) * 3;
    on.data.fill(pixel, start, start + width * 3);
  }
}

function copy(on: Canvas, from: Canvas, left: number, top: number): void {
  for (let y = 0; y < from.height; y++) {
    const row = y * from.width * 3;
    from.data.copy(on.data, ((top + y) * on.width + left) * 3, row, row + from.width * 3);
  }
}

/** Columns and rows of a letter, of which each is one pattern of strokes, and how many letters there are. */
const [LETTER_WIDTH, LETTER_HEIGHT, LETTERS] = [7, 12, 60];

/**
 * Letters as a screen shows them, as coverage from 0 to 255: strokes with soft edges. No font is needed on the machine,
 * and a compressor finds in them what it finds in text, the same letters again and again.
 */
function letters(): readonly Buffer[] {
  const next = numbers(7);
  return Array.from({ length: LETTERS }, () => {
    const letter = Buffer.alloc(LETTER_WIDTH * LETTER_HEIGHT);
    const put = (x: number, y: number, value: number) => {
      const at = y * LETTER_WIDTH + x;
      letter[at] = Math.max(letter[at] ?? 0, value);
    };
    for (let stroke = 0; stroke < 3; stroke++) {
      const [x, y, soft] = [next(5), 1 + next(9), 60 + next(120)];
      for (let step = 0; step < 10; step++) {
        const [column, row] = stroke === 0 ? [x, 1 + step] : [step % 6, y];
        put(column, row, 255);
        if (stroke === 0) put(column + 1, row, soft);
        else put(column, row + 1, soft);
      }
    }
    return letter;
  });
}

/** Lines of words in an area. */
function write(on: Canvas, area: Area, ink: Colour, seed: number): void {
  const [next, alphabet] = [numbers(seed), letters()];
  for (let top = area.top; top + LETTER_HEIGHT <= area.top + area.height; top += LETTER_HEIGHT + 7) {
    const end = area.left + area.width - next(area.width / 3);
    let word = 2 + next(9);
    for (let left = area.left; left + LETTER_WIDTH <= end; left += LETTER_WIDTH + 1) {
      if (word-- === 0) {
        word = 2 + next(9);
        continue;
      }
      const letter = alphabet[Math.min(next(LETTERS), next(LETTERS))] ?? Buffer.alloc(0);
      for (const [at, coverage] of letter.entries()) {
        if (coverage === 0) continue;
        const pixel = ((top + Math.floor(at / LETTER_WIDTH)) * on.width + left + (at % LETTER_WIDTH)) * 3;
        for (const channel of [0, 1, 2]) {
          const under = on.data[pixel + channel] ?? 0;
          on.data[pixel + channel] = under + (((ink[channel] ?? 0) - under) * coverage) / 255;
        }
      }
    }
  }
}

/** How much a detail of a size in pixels shows: in photographs its strength grows with its size. */
const DETAILS: readonly (readonly [size: number, strength: number])[] = [
  [900, 150],
  [320, 70],
  [110, 36],
  [40, 18],
  [14, 9],
  [5, 5],
];

/** Something like a photograph: soft shapes of all sizes, edges where one stands before another, and a sensor's grain. */
async function photograph(
  width: number,
  height: number,
  { seed, grain }: { seed: number; grain: number },
): Promise<Canvas> {
  const next = numbers(seed);
  const sums = new Int16Array(width * height * 3);
  for (const [size, strength] of DETAILS) {
    const [columns, rows] = [Math.ceil(width / size) + 1, Math.ceil(height / size) + 1];
    const rough = Buffer.alloc(columns * rows * 3);
    for (let at = 0; at < rough.length; at += 3) {
      const light = next(196);
      for (const channel of [0, 1, 2]) rough[at + channel] = light + next(60);
    }
    const smooth = await sharp(rough, { raw: { width: columns, height: rows, channels: 3 } })
      .resize(width, height, { fit: 'fill', kernel: 'cubic' })
      .raw()
      .toBuffer();
    for (let at = 0; at < sums.length; at++) {
      sums[at] = (sums[at] ?? 0) + ((((smooth[at] ?? 0) - 128) * strength) >> 7);
    }
  }
  const data = new Uint8ClampedArray(sums.length);
  for (let at = 0; at < data.length; at += 3) {
    const noise = next(grain) - (grain >> 1);
    // what is dark stands before what is light
    const light = ((sums[at] ?? 0) > 20 ? 150 : 90) + noise;
    data[at] = light + (sums[at] ?? 0);
    data[at + 1] = light + (sums[at + 1] ?? 0);
    data[at + 2] = light + (sums[at + 2] ?? 0);
  }
  return { data: Buffer.from(data.buffer), width, height };
}

/** A page in a browser: a bar, a column of links, three columns of text, and photographs between them. */
async function screenshot(): Promise<Buffer> {
  const page = canvas(1920, 1080);
  fill(page, { left: 0, top: 0, width: 1920, height: 1080 }, [250, 251, 253], [232, 237, 244]);
  fill(page, { left: 0, top: 0, width: 1920, height: 64 }, [32, 38, 52], [24, 28, 40]);
  fill(page, { left: 0, top: 64, width: 280, height: 1016 }, [44, 52, 70], [30, 36, 50]);
  write(page, { left: 24, top: 24, width: 1700, height: 14 }, [240, 244, 250], 3);
  write(page, { left: 24, top: 96, width: 230, height: 940 }, [200, 208, 222], 5);
  for (const column of [0, 1, 2]) {
    const left = 320 + column * 530;
    fill(page, { left, top: 96, width: 500, height: 952 }, [255, 255, 255]);
    copy(page, await photograph(460, 250, { seed: 11 + column, grain: 7 }), left + 20, 116);
    write(page, { left: left + 20, top: 390, width: 460, height: 630 }, [36, 40, 48], 17 + column);
  }
  const { data, width, height } = page;
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 9 })
    .toBuffer();
}

/** Twelve megapixels as a phone writes them. */
async function photo(): Promise<Buffer> {
  const { data, width, height } = await photograph(4000, 3000, { seed: 23, grain: 22 });
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 95 })
    .toBuffer();
}

const MAKE: Readonly<Record<PictureName, () => Promise<Buffer>>> = { screenshot, photo };

/** Makes a picture unless it is there already. @returns its file */
export async function makePicture(name: PictureName): Promise<string> {
  const path = picturePath(name);
  if (existsSync(path)) return path;
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(`${path}.part`, await MAKE[name]());
  renameSync(`${path}.part`, path);
  return path;
}

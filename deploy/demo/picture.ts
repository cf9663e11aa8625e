import sharp from 'sharp';

const WIDTH = 3200;
const HEIGHT = 2000;

/** Numbers from 0 to 1, the same for the same seed: every demo has the same files. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A harbour at dusk as a camera would have taken it, grain included: some 3.5 MB of JPEG. */
export async function renderPicture(): Promise<Buffer> {
  const random = seeded(7);
  const hills = [0, 1, 2].map((layer) => skyline(random, 0.46 + layer * 0.05, 0.11 - layer * 0.025));
  const pixels = Buffer.allocUnsafe(WIDTH * HEIGHT * 3);
  let at = 0;
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const grain = (random() - 0.5) * 26;
      for (const channel of colourAt(x, y, hills)) pixels[at++] = Math.max(0, Math.min(255, channel + grain));
    }
  }
  return sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
    .jpeg({ quality: 97 })
    .toBuffer();
}

const SHORE = 0.62;
const SUN = { x: 0.68, y: 0.27 };

function colourAt(x: number, y: number, hills: readonly Float64Array[]): [number, number, number] {
  const height = y / HEIGHT;
  // The water mirrors what is above the shore, shaken sideways by the waves and darker.
  const inWater = height > SHORE;
  const mirrored = inWater ? 2 * SHORE - height : height;
  const shaken = inWater ? x + Math.sin(y * 0.21 + Math.sin(x * 0.004) * 3) * (height - SHORE) * 90 : x;
  const column = Math.max(0, Math.min(WIDTH - 1, Math.round(shaken)));
  let colour = sky(column / WIDTH, mirrored);
  hills.forEach((line, layer) => {
    if (mirrored > (line[column] ?? 1)) colour = [52 - layer * 15, 44 - layer * 11, 74 - layer * 15];
  });
  return inWater ? [colour[0] * 0.72, colour[1] * 0.76, colour[2] * 0.86 + 10] : colour;
}

function sky(x: number, y: number): [number, number, number] {
  const glow = Math.exp(-((x - SUN.x) ** 2 * 9 + (y - SUN.y) ** 2 * 22));
  const disc = Math.hypot((x - SUN.x) * WIDTH, (y - SUN.y) * HEIGHT) < 62 ? 60 : 0;
  const dusk = Math.min(1, Math.max(0, y / SHORE));
  return [58 + 130 * dusk + 110 * glow + disc, 74 + 62 * dusk + 78 * glow + disc, 128 + 6 * dusk - 34 * glow + disc];
}

/** A line of hills, as the height (0 is the top) for each column: a few waves, the short ones lower. */
function skyline(random: () => number, base: number, roughness: number): Float64Array {
  const waves = [1, 2, 4, 8, 16, 32].map((n) => ({
    n,
    phase: random() * Math.PI * 2,
    height: (roughness / n ** 0.9) * (0.6 + random()),
  }));
  return Float64Array.from({ length: WIDTH }, (_, x) =>
    waves.reduce((y, wave) => y - Math.sin((x / WIDTH) * wave.n * 5 + wave.phase) * wave.height, base),
  );
}

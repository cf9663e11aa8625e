import type { Sharp as Pipeline, default as sharpModule } from 'sharp';

export type Sharp = typeof sharpModule;

/** Pixels in memory: rows of `channels` bytes each, 1 to 4 as in grey, grey + alpha, RGB, RGBA. */
export interface Raster {
  data: Buffer;
  width: number;
  height: number;
  channels: 1 | 2 | 3 | 4;
}

/** A pipeline that begins with pixels. */
export function fromRaster(sharp: Sharp, { data, width, height, channels }: Raster): Pipeline {
  return sharp(data, { raw: { width, height, channels } });
}

/** The pixels at the end of a pipeline, 8 bits a channel. */
export async function toRaster(pipeline: Pipeline): Promise<Raster> {
  const { data, info } = await pipeline.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}

import type { Raster } from './raster.js';

/** @returns the raster without its alpha channel when no pixel is transparent, in the same memory; else as it was */
export function withoutIdleAlpha(raster: Raster): Raster {
  const { data, channels } = raster;
  if (channels % 2 === 1 || !isOpaque(raster)) return raster;
  return channels === 4
    ? { ...raster, data: packed(data), channels: 3 }
    : { ...raster, data: data.filter((_, at) => at % 2 === 0) as Buffer, channels: 1 };
}

function isOpaque({ data, channels }: Raster): boolean {
  for (let at = channels - 1; at < data.length; at += channels) if (data[at] !== 255) return false;
  return true;
}

/** RGBA to RGB. Four bytes a step, of which the next step overwrites the last: a third of the time of single bytes. */
function packed(data: Buffer): Buffer {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  let to = 0;
  for (let at = 0; at < data.length; at += 4, to += 3) view.setInt32(to, view.getInt32(at));
  return data.subarray(0, to);
}

/**
 * The raster formats that are decoded. SVG and PDF are programs; other formats are rare, and their decoders less
 * tested.
 */
type RasterFormat = 'png' | 'jpeg' | 'gif' | 'webp' | 'avif' | 'tiff';

/** First bytes that `rasterFormat` needs. */
export const MAGIC_BYTES = 12;

/**
 * ISO BMFF major brands of AV1 images. HEIC has its own brands and contains HEVC, for which there is no decoder here.
 */
const AVIF_BRANDS = ['avif', 'avis', 'mif1', 'miaf'];

/** The format shown by a file's first bytes, never the declared one. */
export function rasterFormat(head: Buffer): RasterFormat | undefined {
  const ascii = head.toString('latin1', 0, MAGIC_BYTES);
  if (ascii.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (ascii.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (ascii.startsWith('GIF87a') || ascii.startsWith('GIF89a')) return 'gif';
  if (ascii.startsWith('RIFF') && ascii.startsWith('WEBP', 8)) return 'webp';
  if (ascii.startsWith('II*\0') || ascii.startsWith('MM\0*')) return 'tiff';
  if (ascii.startsWith('ftyp', 4) && AVIF_BRANDS.includes(ascii.slice(8, 12))) return 'avif';
  return undefined;
}

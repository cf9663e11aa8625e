import type { Browser } from 'playwright-core';
import sharp from 'sharp';
import { noise } from '../../helpers/sdk-servers-bytes.js';

/** A file as a server gives it. */
export interface Sample {
  mimeType: string;
  bytes: Buffer;
}

/** Pixels of every picture. */
export const SIZE = { width: 240, height: 160 };

/** The colour of the sheet in `pdf`. */
export const RED = { r: 230, g: 26, b: 26 };

/** Longer than what stays in a result. */
const FILLER = 2000;

const IMAGE = sharp(noise(SIZE.width * SIZE.height * 3), { raw: { ...SIZE, channels: 3 } });

/** Pictures in the formats that a browser shows. */
export async function pictures(): Promise<Record<string, Sample>> {
  const formats = {
    png: IMAGE.clone().png(),
    jpeg: IMAGE.clone().jpeg({ quality: 95 }),
    webp: IMAGE.clone().webp({ quality: 95 }),
    gif: IMAGE.clone().gif(),
    avif: IMAGE.clone().avif({ quality: 90 }),
  };
  const made = Object.entries(formats).map(
    async ([name, format]) => [name, { mimeType: `image/${name}`, bytes: await format.toBuffer() }] as const,
  );
  return Object.fromEntries(await Promise.all(made));
}

/**
 * A page with a red sheet.
 * @param catalog further members of its catalog, such as what happens when it is opened
 * @param before what stands before its header
 */
export function pdf(catalog = '', before = ''): Buffer {
  const drawing = '0.9 0.1 0.1 rg 0 0 300 200 re f';
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R >>',
    `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`,
  ];
  let text = `${before}%PDF-1.7\n`;
  const offsets = objects.map((object, index) => {
    const at = text.length - before.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const table = text.length - before.length;
  const size = objects.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`;
  text += `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n%${'x'.repeat(FILLER)}`;
  return Buffer.from(text);
}

/** A second of silence. */
export function wav(): Buffer {
  const rate = 8000;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + rate, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(rate, 40);
  return Buffer.concat([head, Buffer.alloc(rate, 128)]);
}

/** Half a second of film, recorded by the browser itself. */
export async function webm(browser: Browser): Promise<Buffer> {
  const page = await browser.newPage();
  const base64 = await page.evaluate<string>(`(async () => {
    const canvas = Object.assign(document.createElement('canvas'), ${JSON.stringify(SIZE)});
    const context = canvas.getContext('2d');
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm' });
    const parts = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.start();
    for (let frame = 0; frame < 10; frame++) {
      context.fillStyle = frame % 2 ? 'red' : 'blue';
      context.fillRect(0, 0, canvas.width, canvas.height);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await new Promise((resolve) => { recorder.onstop = resolve; recorder.stop(); });
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  })()`);
  await page.close();
  return Buffer.from(base64, 'base64');
}

/**
 * Files that would call an address if a browser ran what is in them.
 * @param beacon the address
 */
export function hostile(beacon: string): Record<string, Sample> {
  const call = `new Image().src='${beacon}';fetch('${beacon}')`;
  const script = `<script>${call}</script><img src=x onerror="${call}">`;
  const html = `<!doctype html><title>x</title>${script}${' '.repeat(FILLER)}`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${call}"><script>${call}</script></svg>${' '.repeat(FILLER)}`;
  const gif = `GIF89a/*${'\0'.repeat(16)}*/=1;${call};//${script}${' '.repeat(FILLER)}`;
  const open = `/OpenAction << /S /JavaScript /JS (this.submitForm('${beacon}'); app.launchURL('${beacon}'); ${call}) >>`;
  const of = (mimeType: string, text: string | Buffer): Sample => ({ mimeType, bytes: Buffer.from(text) });
  return {
    'a page': of('text/html', html),
    'a page that is called a picture': of('image/png', html),
    'a page that is called plain text': of('text/plain', html),
    'a page that is called a PDF': of('application/pdf', `%PDF-1.7\n${html}`),
    'a page that is called a film': of('video/mp4', html),
    'a drawing': of('image/svg+xml', svg),
    'a drawing that is called a picture': of('image/webp', svg),
    'XML with a style': of('text/xml', `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">${svg}</html>`),
    XHTML: of('application/xhtml+xml', `<html xmlns="http://www.w3.org/1999/xhtml">${svg}</html>`),
    'a script': of('text/javascript', `${call};//${' '.repeat(FILLER)}`),
    'a picture that is also a page and a script': of('image/gif', gif),
    'a picture with a page behind it': of(
      'image/gif',
      Buffer.concat([Buffer.from('GIF89a\x01\0\x01\0\0\0\0;'), Buffer.from(html)]),
    ),
    'a PDF with a script': of('application/pdf', pdf(open)),
    'a PDF with a page before it': of('application/pdf', pdf(open, script)),
    'a PDF with an address that is a script': of(
      'application/pdf',
      pdf(`/OpenAction << /S /URI /URI (javascript:${call}) >>`),
    ),
    'an archive of a page': of('multipart/related', `MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${html}`),
  };
}

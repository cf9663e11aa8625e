import sharp from 'sharp';

const PAGE = { width: 595, height: 842 };
const PICTURE_EDGE = 1400;

/**
 * A report of three pages as PDF 1.4: on each some lines and a detail of the picture. PDF is numbered objects, then a
 * table of where each begins.
 */
export async function writeDocument(picture: Buffer): Promise<Buffer> {
  const details = await Promise.all([200, 900, 1700].map((left) => detail(picture, left)));
  const file = new PdfFile();
  const pages = details.map((_, index) => 3 + index * 3);
  file.object(1, '<< /Type /Catalog /Pages 2 0 R >>');
  file.object(2, `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((id) => `${id} 0 R`).join(' ')}] >>`);
  details.forEach((jpeg, index) => {
    const id = pages[index] ?? 0;
    const resources = `/XObject << /Photo ${id + 2} 0 R >> /Font << /Text << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>`;
    file.object(
      id,
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE.width} ${PAGE.height}] /Contents ${id + 1} 0 R /Resources << ${resources} >> >>`,
    );
    file.object(id + 1, '<< /Length ', Buffer.from(pageContent(index + 1)));
    file.object(
      id + 2,
      `<< /Type /XObject /Subtype /Image /Width ${PICTURE_EDGE} /Height ${PICTURE_EDGE} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length `,
      jpeg,
    );
  });
  return file.end();
}

async function detail(picture: Buffer, left: number): Promise<Buffer> {
  return sharp(picture)
    .extract({ left, top: 300, width: PICTURE_EDGE, height: PICTURE_EDGE })
    .jpeg({ quality: 90 })
    .toBuffer();
}

function pageContent(page: number): string {
  const lines = [
    `Harbour survey, page ${page}`,
    'This document was made by the demo. It is big enough that no model',
    'should be sent it as base64, and small enough to open in a moment.',
  ];
  const text = lines
    .map((line, index) => `${index === 0 ? '/Text 20 Tf' : '/Text 12 Tf'} (${line}) Tj 0 -24 Td`)
    .join('\n');
  return `BT 60 770 Td\n${text}\nET\nq 475 0 0 475 60 170 cm /Photo Do Q\n`;
}

class PdfFile {
  readonly #parts: Buffer[] = [Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  readonly #offsets = new Map<number, number>();
  #length = this.#parts[0]?.length ?? 0;

  /** An object; with `stream`, `head` ends where the stream's length belongs. */
  object(id: number, head: string, stream?: Buffer): void {
    this.#offsets.set(id, this.#length);
    if (stream === undefined) this.#add(`${id} 0 obj\n${head}\nendobj\n`);
    else {
      this.#add(`${id} 0 obj\n${head}${stream.length} >>\nstream\n`);
      this.#add(stream);
      this.#add('\nendstream\nendobj\n');
    }
  }

  end(): Buffer {
    const table = this.#length;
    const size = this.#offsets.size + 1;
    const entries = [...this.#offsets.entries()].toSorted(([a], [b]) => a - b);
    const rows = entries.map(([, offset]) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
    this.#add(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`,
    );
    return Buffer.concat(this.#parts);
  }

  #add(part: string | Buffer): void {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : part;
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }
}

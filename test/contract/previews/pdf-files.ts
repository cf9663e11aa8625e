import { deflateSync } from 'node:zlib';

interface PdfFacts {
  pages?: number;
  /** Points. */
  size?: readonly [width: number, height: number];
  /** What the content of every page is. */
  content?: Buffer | string;
  /** Further entries of the content's dictionary. */
  filter?: string;
  /** Further objects, from number 4. */
  objects?: readonly (string | Buffer)[];
  /** Further entries of the page's resources. */
  resources?: string;
  /** Further entries of the trailer. */
  trailer?: string;
}

/** A PDF whose pages share one content. */
export function pdf(facts: PdfFacts = {}): Buffer {
  const { pages = 1, size = [595, 842], content = 'BT /F1 40 Tf 60 700 Td (Harbour) Tj ET' } = facts;
  const { filter = '', objects = [], resources = '', trailer = '' } = facts;
  const bytes = Buffer.from(content as string);
  const first = 4 + objects.length;
  const kids = Array.from({ length: pages }, (_, index) => `${first + index} 0 R`).join(' ');
  const font = '<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>';
  const page = `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${size.join(' ')}]/Contents 3 0 R/Resources<</Font${font}${resources}>>>>`;
  const all = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${pages}>>`,
    Buffer.concat([Buffer.from(`<</Length ${bytes.length}${filter}>>stream\n`), bytes, Buffer.from('\nendstream')]),
    ...objects,
    ...Array.from({ length: pages }, () => page),
  ];
  const parts = [Buffer.from('%PDF-1.7\n')];
  let length = parts[0]?.length ?? 0;
  const places = all.map((object, index) => {
    const part = Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n`),
      Buffer.from(object as string),
      Buffer.from('\nendobj\n'),
    ]);
    const at = length;
    parts.push(part);
    length += part.length;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${all.length + 1}\n0000000000 65535 f \n${places.join('')}`;
  const end = `trailer<</Size ${all.length + 1}/Root 1 0 R${trailer}>>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(table + end)]);
}

/** A password is needed: no key fits, because nothing was ever encrypted with one. */
export function lockedPdf(): Buffer {
  const zeros = `<${'00'.repeat(32)}>`;
  return pdf({ trailer: `/ID[${zeros}${zeros}]/Encrypt<</Filter/Standard/V 1/R 2/O${zeros}/U${zeros}/P -4>>` });
}

/** An image of many pixels, of which the file holds only zeros, compressed. */
export function imageObject(width: number, height: number): Buffer {
  const data = deflateSync(Buffer.alloc(Math.ceil(width / 8) * height), { level: 9 });
  const head = `<</Type/XObject/Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 1/ColorSpace/DeviceGray`;
  return Buffer.concat([
    Buffer.from(`${head}/Filter/FlateDecode/Length ${data.length}>>stream\n`),
    data,
    Buffer.from('\nendstream'),
  ]);
}

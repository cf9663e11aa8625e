import { spelled } from './codes.js';

/** Where the spelled bytes are: a multiple of three, in a comment after the first line. */
const HEAD = '%PDF-1.4\n%  ';

/** A PDF of one page that shows a code, and whose base64 spells another one. */
export function documentOf(code: string, hidden: string): Buffer {
  const show = `BT /F 36 Tf 40 60 Td (${code}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 320 140] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    `<< /Length ${show.length} >>\nstream\n${show}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  const parts = [Buffer.from(HEAD), spelled(hidden), Buffer.from('\n')];
  let length = parts.reduce((sum, part) => sum + part.length, 0);
  const starts = objects.map((object, index) => {
    const at = length;
    const part = Buffer.from(`${index + 1} 0 obj\n${object}\nendobj\n`);
    parts.push(part);
    length += part.length;
    return at;
  });
  const table = starts.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const end = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${table}${end}`)]);
}

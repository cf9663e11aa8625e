import type { Sniffed } from './sniffed.js';

/** APPNOTE.TXT 4.3.7: an entry of a ZIP, before its name. */
const ENTRY = Buffer.from('PK\x03\x04', 'latin1');
const ENTRY_BYTES = 30;

/** ECMA-376 part 2: what such a package holds besides the folder of its program. */
const OF_ANY = /^(?:\[Content_Types\]\.xml$|_rels\/|docProps\/|customXml\/)/;

const OPEN_XML = 'application/vnd.openxmlformats-officedocument';
const PROGRAMS: readonly { parts: RegExp; type: Sniffed }[] = [
  { parts: /^word\/[\w./-]+\.xml(?:\.rels)?$/, type: { mime: `${OPEN_XML}.wordprocessingml.document`, ext: 'docx' } },
  { parts: /^xl\/[\w./-]+\.xml(?:\.rels)?$/, type: { mime: `${OPEN_XML}.spreadsheetml.sheet`, ext: 'xlsx' } },
  { parts: /^ppt\/[\w./-]+\.xml(?:\.rels)?$/, type: { mime: `${OPEN_XML}.presentationml.presentation`, ext: 'pptx' } },
];

/**
 * The type of a document of Word, Excel or PowerPoint that does not begin with its list of types, from which file-type
 * knows them: openpyxl and LibreOffice write that last, and the whole would be "a ZIP".
 * @param head the first bytes of a ZIP
 * @returns undefined for any other ZIP, such as one that also holds other files
 */
export function officeType(head: Buffer): Sniffed | undefined {
  let found: Sniffed | undefined;
  for (let at = head.indexOf(ENTRY); at >= 0 && at + ENTRY_BYTES <= head.length; at = head.indexOf(ENTRY, at + 1)) {
    const end = at + ENTRY_BYTES + head.readUInt16LE(at + 26);
    if (end > head.length) break;
    const name = head.toString('latin1', at + ENTRY_BYTES, end);
    if (OF_ANY.test(name)) continue;
    const type = PROGRAMS.find(({ parts }) => parts.test(name))?.type;
    if (type === undefined || (found !== undefined && found !== type)) return undefined;
    found = type;
  }
  return found;
}

import { alwaysShows, fitsType, isAnyType } from '../../policy/accept.js';
import { contrast, mostText, sizeText } from '../../policy/amounts.js';
import type { PageData } from './page-data.js';
import { shown } from './shown.js';
import { TEXTS, typesText } from './texts.js';

/** Most refusals that the alert names; it counts the others. */
const MOST_TOLD = 5;

/** The parts of a browser's `File` that are checked before sending. */
interface Picked {
  name: string;
  size: number;
  /** The browser's guess from the name; empty if it has none. */
  type: string;
}

type Limits = Pick<PageData, 'largest' | 'size' | 'accept' | 'types'>;

/** Why a file would be refused, in words with both numbers; undefined when a page cannot see a reason. */
export function whyNot(file: Picked, { largest, size, accept, types }: Limits): string | undefined {
  if (file.size > largest) {
    const sizes = contrast(largest, file.size);
    return TEXTS.tooLarge(sizes.actual, sizes.allowed);
  }
  if (size !== undefined && file.size !== size) {
    const sizes = contrast(size, file.size);
    return TEXTS.otherSize(sizes.actual, sizes.allowed);
  }
  if (accept !== undefined && !fitsSome(file, accept)) return otherType(file.type, types);
  // the server would say it, once it has been sent
  if (accept !== undefined && isNoPicture(file) && !accept.some(isAnyType)) return TEXTS.empty(types);
  return undefined;
}

/** An empty file that the browser calls a picture by its name. */
function isNoPicture({ size, type }: Picked): boolean {
  return size === 0 && alwaysShows(type);
}

/** What a page knows of a server's refusal. */
interface Refusal {
  code?: string | undefined;
  message: string;
  /** The type of the bytes. */
  actual?: unknown;
  /** The types that are taken. */
  accept?: unknown;
  /** What the antivirus has found. */
  signature?: unknown;
}

/** Why the server has refused a file, for the person who chose it: types have the names that the page shows beside them. */
export function refusalText({ code, message, actual, accept, signature }: Refusal): string {
  // the words for programs say that the file is removed, which a person would take for the one on the desk
  if (code === 'file_infected' && typeof signature === 'string') return TEXTS.infected(shown(signature));
  if (code !== 'upload_type_refused' || typeof actual !== 'string' || !Array.isArray(accept)) return message;
  const types = typesText(accept.map(String), shown);
  return actual === 'empty' ? TEXTS.empty(types) : otherType(actual, types);
}

function otherType(actual: string, types: string): string {
  return isAnyType(actual) ? TEXTS.unknownType(types) : TEXTS.otherType(typesText([actual], shown), types);
}

/** The first of many refusals, and how many there are besides: an alert is read aloud from its beginning to its end. */
export function fewOf(refused: readonly string[]): readonly string[] {
  const more = refused.length - MOST_TOLD;
  return more > 1 ? [...refused.slice(0, MOST_TOLD), TEXTS.moreRefused(more)] : refused;
}

/** Codes of errors about a file's own bytes. */
const OF_FILE: ReadonlySet<string | undefined> = new Set([
  'file_infected',
  'file_unscannable',
  'upload_digest_differs',
  'upload_size_differs',
  'upload_too_large',
  'upload_type_refused',
]);

/** True when the same file would be refused again, and only another one can be taken. */
export const needsAnotherFile = (code: string | undefined): boolean => OF_FILE.has(code);

/** `3.1 MB of 10 MB`. */
export function sentText(sent: number, size: number): string {
  return TEXTS.sentOf(sent === 0 ? '0' : mostText(sent), sizeText(size));
}

function fitsSome({ name, type }: Picked, accept: readonly string[]): boolean {
  // the server checks the bytes; without a guess of the browser's the page must not refuse
  if (type === '') return true;
  const lower = name.toLowerCase();
  return accept.some((entry) => (entry.startsWith('.') ? lower.endsWith(entry.toLowerCase()) : fitsType(entry, type)));
}

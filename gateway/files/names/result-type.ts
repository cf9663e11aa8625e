import { GatewayError } from '../../errors.js';
import { type AcceptRule, refusingRule } from '../../policy/message-limits.js';
import { kindOf, mediaTypeOf } from './media-type.js';
import type { Sniffed } from './sniffed.js';

/** What a server says of a file, and what its bytes say. */
interface TypeFacts {
  declared: string | undefined;
  sniffed: Sniffed | undefined;
}

/**
 * The type by which a server's file is let through: as it would be recorded, but an archive or a program that is declared
 * as an image, a PDF or text counts as what it is. One that is declared as another archive does not: a DOCX is a ZIP too.
 */
export function resultTypeOf({ declared, sniffed }: TypeFacts): string {
  const type = mediaTypeOf(declared, sniffed);
  if (!sniffed || kindOf(sniffed.mime) !== 'other') return type;
  const kind = kindOf(type);
  return kind === 'image' || kind === 'pdf' || kind === 'text' ? sniffed.mime : type;
}

/** @param rules `acceptResults`. @param path of the file, for the error. @throws GatewayError `file_type_refused` */
export function checkResultType(rules: readonly AcceptRule[] | undefined, facts: TypeFacts, path: string): void {
  if (!rules) return;
  const type = resultTypeOf(facts);
  const rule = refusingRule(rules, type);
  if (rule) throw typeRefused(path, type, rule);
}

/** The error for a file whose media type may not be returned. @param actual its media type */
export function typeRefused(path: string, actual: string, { types, source }: AcceptRule): GatewayError {
  const facts = { reason: 'mimeTypeNotAccepted', path, actual, accept: types };
  return new GatewayError('file_type_refused', { ...facts, limit: 'limits.acceptResults', source });
}

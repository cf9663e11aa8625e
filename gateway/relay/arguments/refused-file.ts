import { GatewayError } from '../../errors.js';
import { contrast } from '../../policy/amounts.js';
import type { AcceptedBy, Accepting } from '../../policy/message-limits.js';
import type { FileReason } from '../../ports/dialect.js';
import type { FileSlot } from '../../ports/file-slot.js';
import type { MostInSlot } from '../tools/max-size.js';

/** With the media types of an upload for it. */
export interface SlotRules extends Accepting {
  slot: FileSlot;
  tool: string;
  /** The argument, as refusals name it. */
  argument: string;
  /** Most bytes, and the setting that limits them. */
  maxSize: MostInSlot;
  /** `limits.inlineArgument` */
  maxInline: number;
}

interface RefusalFacts {
  maxSize?: number;
  actualSize?: number;
  /** Config name of the size limit, for the log. */
  limit?: string;
  allowed?: number;
  actual?: number;
  accept?: readonly string[];
  actualType?: string;
  /** Together with the next two: the file may be uploaded instead. */
  tool?: string;
  uploadLimit?: number;
  sizeLimit?: string;
  sizeSource?: string;
  uploadAccept?: readonly string[];
  acceptBy?: readonly AcceptedBy[];
  /** The place in the config that sets the limit. */
  source?: string;
  /** The place of the rule in the config. */
  rule?: string;
  /** What the user may be asked, and about which bytes. */
  consentText?: string;
  consentDigest?: string;
}

/**
 * The error for a file too long for a call: it may be uploaded, unless the tool takes no file of that size.
 * @param size bytes
 */
export function tooLargeInside(rules: SlotRules, size: number): GatewayError {
  if (size > rules.maxSize.bytes) return tooLarge(rules, size);
  const { allowed, actual } = contrast(rules.maxInline, size);
  const text = `is a file of ${actual}, and at most ${allowed} may be inside a call: upload it, and pass its handle`;
  const facts = sizeFacts('limits.inlineArgument', rules.maxInline, size);
  return refused(rules, 'maxSizeExceeded', text, { ...facts, ...uploadInstead(rules) });
}

/**
 * Values that were meant as a file but cannot be one here: a path or an address of the caller's own machine, an unknown
 * handle, a handle of a missing file. An upload provides what was meant.
 */
const MENDED_BY_UPLOAD: ReadonlySet<FileReason> = new Set([
  'schemeNotAllowed',
  'malformedUri',
  'fileNotFound',
  'fileExpired',
  'uploadIncomplete',
]);

/** Facts for offering an upload instead of inline content. */
export function uploadInstead({ slot, tool, maxSize, accept, acceptBy }: SlotRules): RefusalFacts {
  const { transferModes } = slot;
  if (transferModes && !transferModes.includes('upload')) return {};
  const types = { ...(accept && { uploadAccept: accept }), ...(acceptBy && { acceptBy }) };
  return { tool, uploadLimit: maxSize.bytes, ...sizeBy(maxSize), ...types };
}

/** What limits the size of an upload, as facts of an error. */
export function sizeBy({ limit, source }: MostInSlot): { sizeLimit: string; sizeSource?: string } {
  return { sizeLimit: limit, ...(source !== undefined && { sizeSource: source }) };
}

/** The error for a handle without a file. */
export function notThere(kind: 'pending' | 'expired' | 'unknown', rules: SlotRules): GatewayError {
  switch (kind) {
    case 'pending':
      return refused(rules, 'uploadIncomplete', 'is a handle whose file has not been uploaded yet; upload it first');
    case 'expired':
      return refused(rules, 'fileExpired', 'is a handle whose file has expired; run the tool that gave it again');
    case 'unknown': {
      const text = 'is not the handle of a file of yours; copy the handle whole, as it was given';
      return refused(rules, 'fileNotFound', text);
    }
  }
}

/** @param actual for a file that was not read to its end, the bytes so far */
export function tooLarge(rules: SlotRules, actual: number, cause?: unknown): GatewayError {
  const { bytes, limit } = rules.maxSize;
  const sizes = contrast(bytes, actual);
  const atLeast = cause === undefined ? '' : ' or more';
  const text = `is a file of ${sizes.actual}${atLeast}, and this tool takes files of at most ${sizes.allowed} there`;
  return refused(rules, 'maxSizeExceeded', text, { ...sizeFacts(limit, bytes, actual), cause });
}

/** The sizes for programs and for the log. */
function sizeFacts(limit: string, allowed: number, actual: number): RefusalFacts {
  return { maxSize: allowed, actualSize: actual, limit, allowed, actual };
}

/**
 * The refusal of a file argument.
 * @param text what is wrong, phrased to follow the argument's name: "is …"
 */
export function refused(
  rules: SlotRules,
  reason: FileReason,
  text: string,
  { cause, ...facts }: RefusalFacts & { cause?: unknown } = {},
): GatewayError {
  const { argument } = rules;
  const told = { reason, argument, text: `Argument '${argument}' ${text}.`, ...facts };
  return new GatewayError(
    'file_refused',
    MENDED_BY_UPLOAD.has(reason) ? { ...uploadInstead(rules), ...told } : told,
    cause,
  );
}

import { contrast, countText, filesText, mostText, timeText } from '../policy/amounts.js';
import { type ErrorRow, INTERNAL, over, waited } from './texts.js';

/** The rows of `ERROR_TABLE` for uploads and files in arguments. The fact `reason` is SEP-2631's word for what is wrong. */
export const ERRORS_OF_UPLOADS = {
  upload_invalid: { http: 400, jsonRpc: -32602, text: (f) => `The upload cannot be authorized: ${f.detail}.` },
  upload_too_large: {
    http: 413,
    jsonRpc: -32602,
    text: (f) => `The file is larger than the ${over(f, f.isSoFar === true ? ' so far' : '')}.`,
  },
  upload_busy: {
    http: 429,
    jsonRpc: -32602,
    text: (f) => `The file is being uploaded ${f.allowed} times at once already. Try again when one of them has ended.`,
  },
  upload_several_refused: {
    http: 400,
    jsonRpc: -32602,
    text: (f) => {
      if (f.reason === 'uploadIncomplete')
        return `Of ${filesText(1, Number(f.allowed))} ${f.actual} ${f.actual === 1 ? 'has' : 'have'} arrived. Wait for the others.`;
      if (f.reason === 'maxSizeExceeded') {
        const { allowed, actual } = contrast(Number(f.allowed), Number(f.actual));
        return `The files have ${actual} together, and at most ${allowed} are taken here. Give fewer or smaller ones.`;
      }
      const bound = f.reason === 'tooFewFiles' ? 'least' : 'most';
      return `The number of files is ${f.actual}, and at ${bound} ${f.allowed} are taken here.`;
    },
  },
  upload_timeout: {
    http: 408,
    jsonRpc: -32602,
    text: (f) => `The upload took longer than the ${waited(f)} allowed.`,
  },
  upload_done: { http: 409, jsonRpc: -32602, text: () => 'A file has already been uploaded here.' },
  upload_cancelled: {
    http: 410,
    jsonRpc: -32602,
    text: () => 'This file is no longer wanted: the assistant that asked for it has stopped waiting for it.',
  },
  upload_code_needed: {
    http: 403,
    jsonRpc: -32602,
    text: () =>
      'This link is used together with a code: the assistant shows it beside the link. A program sends it in the header Wharf-Code.',
  },
  upload_code_wrong: {
    http: 403,
    jsonRpc: -32602,
    text: (f) =>
      `This is not the code of this link. ${f.left === 1 ? 'One more try is' : `${f.left} more tries are`} left.`,
  },
  upload_locked: {
    http: 403,
    jsonRpc: -32602,
    text: () => 'A wrong code was given too often, so this link no longer takes a file. Ask for a new one.',
  },
  upload_malformed: { http: 400, jsonRpc: -32600, text: (f) => `The upload cannot be read: ${f.detail}.` },
  upload_incomplete: { http: 400, jsonRpc: -32600, text: () => 'The upload ended before it was complete.' },
  upload_size_differs: {
    http: 422,
    jsonRpc: -32602,
    text: (f) =>
      `The file has another size than announced: ${countText(Number(f.actual), 'byte')}${f.isSoFar === true ? ' so far' : ''} instead of ${f.allowed}.`,
  },
  upload_unknown: {
    http: 404,
    jsonRpc: -32602,
    text: () => 'No resumable upload is under way here. Begin one, or begin it again.',
  },
  upload_pieces_too_small: {
    http: 400,
    jsonRpc: -32602,
    text: (f) =>
      `The file comes in requests that are too small: to add them, ${countText(Number(f.actual), 'byte')} had to be stored again, and at ` +
      `most ${f.allowed} may be. Begin again, with more bytes in each request.`,
  },
  upload_offset_differs: {
    http: 409,
    jsonRpc: -32602,
    text: (f) => `The upload goes on at byte ${f.allowed}, not at byte ${f.actual}.`,
  },
  upload_taken_over: {
    http: 409,
    jsonRpc: -32602,
    text: () => 'Another request goes on with this upload. Ask how far it is before you send more.',
  },
  upload_checksum_differs: {
    http: 460,
    jsonRpc: -32602,
    text: () => 'These bytes have another checksum than announced, and were dropped. Send them again.',
  },
  tus_version_unsupported: {
    http: 412,
    jsonRpc: -32600,
    text: (f) => `Version ${f.requested} of tus is not supported here; use ${f.supported}.`,
  },
  upload_digest_differs: {
    http: 422,
    jsonRpc: -32602,
    text: () => 'The bytes have another SHA-256 digest than announced.',
  },
  upload_type_refused: {
    http: 415,
    jsonRpc: -32602,
    text: (f) => {
      const types = [f.accept].flat().join(', ');
      return f.actual === 'empty'
        ? `The file is empty. Choose one with content; accepted: ${types}.`
        : `The file is ${f.actual}, which is not accepted here; accepted: ${types}.`;
    },
  },
  argument_too_large: {
    http: 413,
    jsonRpc: -32602,
    text: (f) =>
      `The argument ${f.path} is too large for a call: larger than the ${over(f)}. If it is a file, pass the ` +
      'handle of an upload to a tool that takes files.',
  },
  file_refused: { http: 400, jsonRpc: -32602, text: (f) => String(f.text) },
  stream_refused: { http: 400, jsonRpc: -32602, text: (f) => String(f.text) },
  file_missing: {
    http: 400,
    jsonRpc: -32602,
    text: (f) =>
      `The tool '${f.tool}' needs ${f.maxFiles === undefined ? 'a file' : 'files'} in the argument '${f.argument}', and ` +
      `was given none. It takes ${
        f.maxFiles === undefined ? 'a file' : filesText(Number(f.minFiles), Number(f.maxFiles))
      } ${f.accept === undefined ? '' : `of type ${[f.accept].flat().join(', ')} `}of at most ${mostText(Number(f.maxSize))}` +
      `${f.maxFiles === undefined ? '' : ' each'}` +
      `${f.maxTogether === undefined ? '' : `, together of at most ${mostText(Number(f.maxTogether))}`}.` +
      `${f.waited === undefined ? '' : ` The person was asked for it, and has uploaded nothing within ${timeText(Number(f.waited))}.`}` +
      `${f.problem === undefined ? '' : ` What was given was not taken: ${f.problem}`}` +
      `${f.why === undefined ? '' : ` ${f.why}`}`,
  },
  question_put_off: { http: 400, jsonRpc: INTERNAL, text: (f) => String(f.text) },
  params_invalid: { http: 400, jsonRpc: -32602, text: (f) => `Invalid params: ${f.text}.` },
} as const satisfies Record<string, ErrorRow>;

/** All texts of the upload pages, on the server and in the browser. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const TEXTS = {
  product: 'Wharf',
  chosen: 'Ready to upload',
  sending: (percent: number) => `${percent} % · Uploading`,
  paused: 'Upload paused',
  titleWaiting: 'Waiting to try again',

  // where the link takes one file, and where it takes several
  one: {
    upload: 'Upload a file',
    failed: 'The file was not uploaded',
    asksTool: { begin: 'The tool', middle: 'of the server', end: 'asks for a file' },
    asksServer: { begin: 'The server', end: 'asks for a file.' },
    largest: 'Largest size',
    file: 'File',
    choose: 'Choose a file',
    chooseMore: 'Choose another file',
    dropHere: 'or drop it here, or paste it',
    come: 'Uploaded',
    promise: 'This link takes one file. It shows nothing that is stored, and only what you choose here is sent.',
  },
  several: {
    upload: 'Upload files',
    failed: 'A file was not uploaded',
    asksTool: { begin: 'The tool', middle: 'of the server', end: 'asks for files' },
    asksServer: { begin: 'The server', end: 'asks for files.' },
    largest: 'Largest size of each',
    file: 'Files',
    choose: 'Choose files',
    chooseMore: 'Choose more files',
    dropHere: 'or drop them here, or paste them',
    come: 'Uploaded: press Done',
    promise:
      'This link takes several files. The assistant gets them together, in the order of the list, once you say that they ' +
      'are all there. Only what you choose here is sent.',
  },

  // who requests the file
  asArgument: 'as its argument',
  message: 'Message from the assistant',
  question: 'What the assistant’s window has asked you',

  // the code of a link
  code: {
    title: 'Enter the code',
    why: 'The assistant shows a code of six characters beside the link. It keeps other people from using the link.',
    label: 'Code',
    go: 'Continue',
    noCookie:
      'The code is right, but this browser has not kept the cookie that says so. Allow cookies for this page, and enter ' +
      'the code again.',
    gone: 'The browser no longer has the cookie that it got for the code. Load this page again, and enter the code.',
  },

  // limits
  expectedFile: 'Expected file',
  expectedSize: 'Expected size',
  count: 'Number of files',
  together: 'Largest size together',
  types: 'Types',
  anyType: 'Any',
  openUntil: 'Open until',

  // choosing
  file: 'File',
  photo: 'Take a photo',
  form: 'Upload',

  // a file in the list
  files: 'Files',
  start: 'Upload',
  remove: 'Remove',
  pause: 'Pause',
  resume: 'Resume',
  cancel: 'Cancel',
  retry: 'Try again',
  of: (action: string, name: string) => `${action}: ${name}`,
  progress: (name: string) => `Upload of ${name}`,
  preview: (name: string) => `Preview of ${name}`,
  sentOf: (sent: string, size: string) => `${sent} of ${size}`,
  rate: (size: string) => `${size}/s`,
  left: (time: string) => `${time} left`,
  isReady: 'Not sent yet',
  isStarting: 'Starting…',
  isFinishing: 'Checking and storing…',
  isPaused: 'Paused',
  isCancelled: 'Cancelled. Nothing has been stored.',
  isDone: 'Uploaded',
  isNotTaken: 'Not uploaded',
  offline: 'No connection. It goes on by itself when there is one.',
  lost: 'The connection was lost.',
  notNow: 'The server cannot take the file now.',
  again: (seconds: number) => `Trying again in ${seconds} s.`,

  // all files of a list
  startAll: (count: number) => (count === 1 ? 'Upload 1 file' : `Upload ${count} files`),
  finish: 'Done',
  isQueued: 'Waits for the files before it',
  isPartly: (sent: string) => `${sent} · Choose the same file again, and the upload goes on from there`,
  missing: (come: number, least: number) =>
    least === 1
      ? 'No file has arrived yet.'
      : `${come} of at least ${least} files ${come === 1 ? 'has' : 'have'} arrived.`,
  enough: (come: number) =>
    come === 1
      ? '1 file has arrived. Press Done if that is all.'
      : `${come} files have arrived. Press Done if that is all.`,
  notAll: (count: number) =>
    count === 1
      ? '1 file of the list is not uploaded, and is left out.'
      : `${count} files of the list are not uploaded, and are left out.`,
  notFinished: (why = 'The server could not be reached.') => `${why} Press Done again.`,

  // for readers who cannot see the progress bar
  said: {
    chosenSeveral: (count: number) => `${count} files are chosen and not sent yet.`,
    arrived: (name: string) => `${name} has arrived`,
    chosen: (name: string, size: string) => `${name}, ${size}, is chosen and not sent yet.`,
    percent: (percent: number) => `${percent} % uploaded`,
    paused: 'Paused',
    waiting: (problem: string) => `${problem} It will be tried again.`,
    closesSoon: (left: string) => `This link closes in ${left}.`,
  },

  // refused before anything is sent
  tooLarge: (actual: string, allowed: string) => `This file has ${actual}. The most that is taken here is ${allowed}.`,
  otherSize: (actual: string, allowed: string) => `This file has ${actual}, and one of ${allowed} is expected.`,
  otherType: (actual: string, types: string) => `This file is ${actual}. Taken here: ${types}.`,
  unknownType: (types: string) => `What kind of file this is cannot be told. Taken here: ${types}.`,
  infected: (signature: string) =>
    `The antivirus has found ${signature} in this file, so it is not stored. Choose another one.`,
  empty: (types: string) => `This file is empty. Choose one with content. Taken here: ${types}.`,
  moreRefused: (count: number) => `${count} more of the files are not taken.`,
  tooMany: (count: number) => `This link takes one file, and you gave ${count}. Choose one of them.`,
  tooManyFor: (most: number, actual: number) =>
    `This link takes at most ${most} files, and with these there would be ${actual}. Choose fewer, or remove one.`,
  tooMuch: (actual: string, allowed: string) =>
    `The files would have ${actual} together. The most that is taken here is ${allowed}. Choose fewer or smaller ones.`,
  busy: 'Another file is being uploaded. Cancel it first.',
  folder: 'A folder cannot be uploaded. Choose a file, or make a ZIP file of the folder.',
  unreadable: 'The browser can no longer read this file. It may have been changed or moved. Choose it again.',
  nothing: 'There was no file in what you gave.',
  refused: 'The file was not taken.',
  elsewhere:
    'Another window or another person uploads a file with this link now, which has ended the upload of this one. ' +
    'Try again to upload this file instead.',

  // continuing after a reload
  partly: (name: string, sent: string) =>
    `${sent} of “${name}” have already arrived. Choose the same file again, and the upload goes on from there. ` +
    'A browser does not keep a file for a page that is loaded anew.',
  goesOnFrom: (sent: string) => `This is the file that was begun: its upload goes on after ${sent}.`,
  notTheSame: (name: string) => `This is not the file that was begun, “${name}”. It is uploaded from its beginning.`,

  // after the upload
  done: 'Uploaded',
  doneText: 'The assistant can use the file now. You can close this page.',
  doneSeveral: (count: number) =>
    count === 1
      ? '1 file: the assistant can use it now. You can close this page.'
      : `${count} files: the assistant can use them now. You can close this page.`,
  type: 'Type',
  size: 'Size',
  details: 'Details',
  handle: 'Handle',
  digest: 'SHA-256',
  notStored: 'The file was not stored',
  nothingStored: 'Nothing has been stored.',
  notShown: 'The page cannot be shown now',
  tryAgain: 'Try again',
} as const;

/** Why nothing can be uploaded at a link, and what to do about it. */
export const CLOSED = {
  done: {
    title: 'Already uploaded',
    text: 'What was asked for has been uploaded here, and the link takes nothing more. You can close this page.',
    mood: 'good',
  },
  expired: {
    title: 'This link has expired',
    text: 'Files can no longer be uploaded here. Ask the assistant for a new link.',
    mood: 'calm',
  },
  cancelled: {
    title: 'No longer needed',
    text: 'The assistant has cancelled this request, and nothing has been stored. You can close this page.',
    mood: 'calm',
  },
  locked: {
    title: 'This link is for another person',
    text: 'A wrong code was given too often, so nothing can be uploaded here. Ask the assistant for a link of your own.',
    mood: 'bad',
  },
  unknown: {
    title: 'Unknown link',
    text: 'There is no such link, or it expired long ago. Check that the address is complete, or ask the assistant for a new link.',
    mood: 'bad',
  },
} as const;

export type Closed = keyof typeof CLOSED;

/** Common names of types; others are shown unchanged. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  'application/gzip': 'GZIP',
  'application/json': 'JSON',
  'application/msword': 'Word',
  'application/pdf': 'PDF',
  'application/vnd.ms-excel': 'Excel',
  'application/vnd.ms-powerpoint': 'PowerPoint',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PowerPoint',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word',
  'application/xml': 'XML',
  'application/zip': 'ZIP',
  'audio/*': 'any sound',
  'audio/mpeg': 'MP3',
  'audio/wav': 'WAV',
  'image/*': 'any image',
  'image/gif': 'GIF',
  'image/heic': 'HEIC',
  'image/jpeg': 'JPEG',
  'image/png': 'PNG',
  'image/svg+xml': 'SVG',
  'image/tiff': 'TIFF',
  'image/webp': 'WebP',
  'text/*': 'any text',
  'text/csv': 'CSV',
  'text/html': 'HTML',
  'text/markdown': 'Markdown',
  'text/plain': 'plain text',
  'video/*': 'any video',
  'video/mp4': 'MP4 video',
};

/** `PNG, JPEG, XYZ`. @param show makes a peer's text safe to show */
export function typesText(accept: readonly string[], show: (entry: string) => string): string {
  const names = accept.map((given) => {
    const entry = given.trim();
    return TYPE_NAMES[entry.toLowerCase()] ?? show(entry.startsWith('.') ? entry.slice(1).toUpperCase() : entry);
  });
  return [...new Set(names)].join(', ');
}

/** `3 min 20 s`, `2 h 5 min`: at most two units. */
export function spanText(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (ms < MINUTE) return `${seconds} s`;
  const [unit, small, name, smallName] =
    ms < HOUR ? [MINUTE, 1000, 'min', 's'] : ms < DAY ? [HOUR, MINUTE, 'h', 'min'] : [DAY, HOUR, 'd', 'h'];
  const whole = Math.floor(ms / unit);
  const rest = Math.floor((ms - whole * unit) / small);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${smallName}`;
}

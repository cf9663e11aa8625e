import { cleanFileName } from '../../files/names/file-name.js';
import type { Authorization } from '../../files/upload.js';
import { mostText } from '../../policy/amounts.js';
import type { JsonObject } from '../../ports/json.js';
import { curlForm, curlPut } from './curl.js';

/** Name of the form's part that holds the file. */
const FILE_PART = 'file';

/** What stands in a curl line for a file whose name nobody said. */
const SOME_FILE = 'FILE';

/** The right to one upload, in words and for programs. */
export interface Offer {
  /** What to do, step by step, for a model. */
  steps: string;
  /** SEP-2631's descriptor: bytes go to `url`, and then `file.uri` is the handle. */
  upload: JsonObject;
  curl: string;
  curlPut: string;
  /** For a browser: the same address shows a form. */
  page: string;
}

/**
 * @param name of the file, as its caller named it
 * @param then what to do with the handle
 */
export function offerOf({ uri, url, expiresAt }: Authorization, name: string | undefined, then: string): Offer {
  const file = name === undefined ? SOME_FILE : cleanFileName(name, SOME_FILE);
  const form = curlForm(file, url);
  const put = curlPut(file, url);
  const where =
    name === undefined
      ? `put the path of the file instead of ${SOME_FILE}`
      : 'run it in the folder of the file, or put its path instead of its name';
  const steps = [
    `1. Upload the file in one of these ways, once, before ${expiresAt}:`,
    `   - with a shell (${where}): ${form}`,
    `   - or as raw bytes: ${put}`,
    `   - without a shell, give this page to the person you work for, to be opened in a browser: ${url}`,
    `2. When the answer says "status":"completed", or the person says that it is done, ${then}: ${uri}`,
    'Do not type base64 yourself, and do not make up the file or its contents. If the upload is blocked or fails, say ' +
      'so and give the page to the person; do not look for another way to read the file.',
  ];
  return {
    steps: steps.join('\n'),
    upload: {
      transport: url.slice(0, url.indexOf(':')),
      method: 'POST',
      url,
      multipart: { fileField: FILE_PART },
      expiresAt,
    },
    curl: form,
    curlPut: put,
    page: url,
  };
}

/** ` of type image/png of at most 1 MB`: what a file may be. */
export function atMost(bytes: number, accept: readonly string[] | undefined): string {
  return `${accept === undefined ? '' : ` of type ${accept.join(', ')}`} of at most ${mostText(bytes)}`;
}

import { cleanFileName } from '../../files/names/file-name.js';
import type { Several } from '../../files/tickets/several.js';
import type { Authorization } from '../../files/uploads/upload-links.js';
import { filesText, mostText } from '../../policy/amounts.js';
import { curlForm, curlPut } from '../../policy/curl.js';
import type { JsonObject } from '../../ports/json.js';

/** Name of the form part with the file. */
const FILE_PART = 'file';

/**
 * A program gives the code in a header, so that the address stays that of the page: it is passed on, and proxies write it
 * to their logs.
 */
const CODE_HEADER = 'Wharf-Code';

/** File name in a curl command when none is known. */
const SOME_FILE = 'FILE';

/** The right to one upload, in words and for programs. */
interface Offer {
  /** The steps for a model. */
  steps: string;
  /** SEP-2631's descriptor: upload the bytes to `url`, then `file.uri` is the handle. */
  upload: JsonObject;
  curl: string;
  curlPut: string;
  /** For a browser: the same address shows a form. */
  page: string;
  /** What the page asks the person for. */
  code?: string;
}

/**
 * @param name of the file, as the caller gave it
 * @param then what to do with the handle
 */
export function offerOf(authorization: Authorization, name: string | undefined, then: string): Offer {
  const { url, code, expiresAt } = authorization;
  const file = name === undefined ? SOME_FILE : cleanFileName(name, SOME_FILE);
  const form = curlForm([file], url, headersOf(code));
  const put = curlPut(file, url, headersOf(code));
  const where =
    name === undefined
      ? `put the path of the file instead of ${SOME_FILE}`
      : 'run it in the folder of the file, or put its path instead of its name';
  const ways = [
    `1. Upload the file in one of these ways, once, before ${expiresAt}:`,
    `   - with a shell (${where}): ${form}`,
    `   - or as raw bytes: ${put}`,
  ];
  return offered(authorization, ways, then, { curl: form, curlPut: put });
}

/** The right to upload several files, and one handle for all of them. */
export function offerOfSeveral(authorization: Authorization, { least, most }: Several, then: string): Offer {
  const { url, code, expiresAt } = authorization;
  const form = curlForm(most > 1 ? [`${SOME_FILE}1`, `${SOME_FILE}2`] : [SOME_FILE], url, headersOf(code));
  const ways = [
    `1. Upload all the files together (${filesText(least, most)}) in one of these ways, once, before ${expiresAt}:`,
    `   - with a shell, in one command (a part -F 'file=@PATH' for each file, in their order): ${form}`,
  ];
  return offered(authorization, ways, then, { curl: form, curlPut: curlPut(SOME_FILE, url, headersOf(code)) });
}

function headersOf(code: string | undefined): Record<string, string> {
  return code === undefined ? {} : { [CODE_HEADER]: code };
}

function offered(
  { uri, url, code, expiresAt }: Authorization,
  ways: readonly string[],
  then: string,
  curls: Pick<Offer, 'curl' | 'curlPut'>,
): Offer {
  const withCode = code === undefined ? '' : ` and the code ${code}`;
  const steps = [
    ...ways,
    `   - without a shell, give this page${withCode} to the person you work for, to be opened in a browser: ${url}`,
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
      ...(code !== undefined && { headers: headersOf(code) }),
      multipart: { fileField: FILE_PART },
      expiresAt,
    },
    ...curls,
    page: url,
    ...(code !== undefined && { code }),
  };
}

/** ` of type image/png of at most 1 MB`: the limits of a file. */
export function atMost(bytes: number, accept: readonly string[] | undefined): string {
  return `${accept === undefined ? '' : ` of type ${accept.join(', ')}`} of at most ${mostText(bytes)}`;
}

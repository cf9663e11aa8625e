import type { Answer } from '../../http/answer.js';

/** Characters of a body that the log repeats. */
const SHOWN = 300;

/** Bytes that hold them: in UTF-8 one has at most four. */
const SHOWN_BYTES = 4 * SHOWN;

/** What a server has answered instead of what was asked for, as the cause of an error: for the log alone, which redacts it. */
export function saidBy({ statusCode, headers, whole }: Pick<Answer, 'statusCode' | 'headers' | 'whole'>): Error {
  const type = headers['content-type'];
  const text = whole?.toString('utf8', 0, SHOWN_BYTES).replaceAll(/\s+/g, ' ').trim() ?? '';
  const said = new Error(
    `HTTP ${statusCode}${type === undefined ? '' : `, ${type}`}${text === '' ? '' : `: ${text.slice(0, SHOWN)}`}`,
  );
  // where in the source it was read says nothing
  delete said.stack;
  return said;
}

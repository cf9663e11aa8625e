import type { Several } from '../../files/tickets/several.js';
import { filesText, mostText, timeText } from '../../policy/amounts.js';
import { sentence } from '../../policy/file-words.js';
import type { Means } from '../../policy/means.js';
import type { ServerFile } from '../../ports/file-question.js';
import type { JsonObject } from '../../ports/json.js';

/** A file that is asked for. */
export interface WantedFile {
  tool: string;
  /** As the client calls it. */
  argument: string;
  /** Bytes. */
  maxSize: number;
  accept?: readonly string[];
  /** Several files are asked for. */
  several?: Several;
}

/** Who asks a person, for what, and within which limits: in the client's own window, and again on the page. */
export function askedText({ tool, argument, maxSize, accept, several }: WantedFile, server: string): string {
  const kind = accept === undefined ? '' : ` of type ${accept.join(', ')}`;
  const [what, how] = several
    ? ['files', `${filesText(several.least, several.most)}${kind}, each`]
    : ['a file', `one${kind}`];
  const together = several?.together ? `, together of at most ${mostText(several.together.bytes)}` : '';
  return (
    `The tool '${tool}' of the server "${server}" needs ${what} for its argument '${argument}': ${how} of at most ` +
    `${mostText(maxSize)}${together}.`
  );
}

type ServerWords = Pick<ServerFile, 'title' | 'description'>;

/** What is said besides a question. */
export interface Besides {
  /** Why what was given before could not be used. */
  problem?: string | undefined;
  /** What the page asks for. */
  code?: string | undefined;
}

/** What the person reads in the client's own window. */
export function questionText(wanted: WantedFile, server: string, means: Means, { problem, code }: Besides): string {
  const before = problem === undefined ? '' : `The file was not taken: ${problem} `;
  const asks = code === undefined ? '' : ` The page asks for this code: ${code}.`;
  const it = wanted.several ? 'them' : 'it';
  const then = means === 'url' ? ` Open the page to choose and upload ${it}.${asks}` : '';
  return `${before}${askedText(wanted, server)}${then}`;
}

/** Who asks, where that is a server by itself, and its own words: of the whole, and of one file where no form has them. */
export function serverAskedText(message: string, server: string, { title, description }: ServerWords = {}): string {
  const file = [title, description].filter((words) => words !== undefined).join(': ');
  return `The server "${server}" asks: ${sentence(message)}${file === '' ? '' : ` File: ${sentence(file)}`}`;
}

/** What the person reads where the server asks by itself, in its own words. */
export function serverQuestionText(
  { message, server, means, wanted }: { message: string; server: string; means: Means; wanted?: ServerWords },
  { problem, code }: Besides,
): string {
  const before = problem === undefined ? '' : `The file was not taken: ${problem} `;
  if (means !== 'url') return `${before}${serverAskedText(message, server)}`;
  const asks = code === undefined ? '' : ` The page asks for this code: ${code}.`;
  return `${before}${serverAskedText(message, server, wanted)} Open the page to choose and upload the file.${asks}`;
}

/** What a client shows beside a call that waits. */
export function waitingText(url: string | undefined, code: string | undefined): string {
  if (url === undefined) return 'Waiting for an answer';
  return `Waiting for a file to be uploaded at ${url}${code === undefined ? '' : ` with the code ${code}`}`;
}

/** Why a call does not wait for a file until its time is over. @param ms `timeouts.elicitationNotice` */
export function unopenedText(ms: number): string {
  return `The user was asked to open the upload page, and did not open it within ${timeText(ms)}: give them the link.`;
}

/** Why a call no longer waits for a file: its upload would be refused. */
export const LOST_TEXT =
  'Wharf no longer knows the link that the user was given before: its state store has lost what was in it.';

/** Why the person was not asked, although the client had declared that it can. */
export const UNASKED_TEXT = 'The client answers that it cannot ask its user for the file: give them the link.';

/** What a model is told when the person gave no file. */
export function notGivenResult({ tool, argument }: Pick<WantedFile, 'tool' | 'argument'>, how: NotGiven): JsonObject {
  return { content: [{ type: 'text', text: NOT_GIVEN[how](tool, argument) }], isError: true };
}

type NotGiven = 'declined' | 'cancelled';

const NOT_GIVEN: Readonly<Record<NotGiven, (tool: string, argument: string) => string>> = {
  declined: (tool, argument) =>
    `The person was asked for the file that the tool '${tool}' needs in the argument '${argument}', and declined to give ` +
    'one. The tool was not called. Do not make up the file, and do not ask for it again unless they want you to.',
  // Claude Code answers so for a person, and by itself where it runs without one (`claude -p`)
  cancelled: (tool, argument) =>
    `The request for the file that the tool '${tool}' needs in the argument '${argument}' was closed without an answer: ` +
    'by the person, or by a client that runs without one. The tool was not called. Do not make up the file. If they ' +
    'have already said which file it is, upload that one and call the tool again with its handle; otherwise ask them ' +
    'first whether they want to give one.',
};

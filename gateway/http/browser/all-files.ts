import { contrast } from '../../policy/amounts.js';
import { byId, element, setText } from './dom.js';
import type { SeveralFiles } from './page-data.js';
import { TEXTS } from './texts.js';
import type { Phase, Shown } from './transfer.js';

/** Files that are sent at one time; the others wait for their turn. */
const AT_ONCE = 3;
/** Phases in which a file takes one of these turns. */
const RUNNING: ReadonlySet<Phase> = new Set(['starting', 'sending', 'finishing', 'waiting']);
/** Phases of files that the user no longer means to give. */
const GIVEN_UP: ReadonlySet<Phase> = new Set(['failed', 'cancelled']);

/** Whether one more file may be sent now. */
export function hasTurn(files: readonly Shown[]): boolean {
  return files.filter(({ phase }) => RUNNING.has(phase)).length < AT_ONCE;
}

/** Why these cannot join the files of the list, with the numbers; undefined when they can. */
export function whyNotAll(
  chosen: readonly Pick<File, 'size'>[],
  files: readonly Shown[],
  { most, together }: SeveralFiles,
): string | undefined {
  const meant = files.filter(({ phase }) => !GIVEN_UP.has(phase));
  const count = meant.length + chosen.length;
  if (count > most) return TEXTS.tooManyFor(most, count);
  const bytes = [...meant.map(({ file }) => file), ...chosen].reduce((sum, { size }) => sum + size, 0);
  if (together === undefined || bytes <= together) return undefined;
  const { actual, allowed } = contrast(together, bytes);
  return TEXTS.tooMuch(actual, allowed);
}

/** What can be done with all files of the list: to send them, and to say that they are all there. */
export class AllFiles {
  readonly #place = byId('all', HTMLElement);
  readonly #least: number;
  readonly #text = element('p', {});
  readonly #start = element('button', { type: 'button' });
  readonly #finish = element('button', { type: 'button' }, TEXTS.finish);

  constructor({ least }: SeveralFiles, { onStart, onFinish }: { onStart: () => void; onFinish: () => void }) {
    this.#least = Math.max(1, least);
    this.#start.addEventListener('click', onStart);
    this.#finish.addEventListener('click', onFinish);
    this.#place.append(this.#text, element('div', { class: 'actions' }, this.#start, this.#finish));
  }

  /** Whether as many have arrived as there must be. */
  isEnough(files: readonly Shown[]): boolean {
    return files.filter(({ phase }) => phase === 'done').length >= this.#least;
  }

  draw(files: readonly Shown[], isFinishing: boolean): void {
    const count = (wanted: Phase) => files.filter(({ phase }) => phase === wanted).length;
    const [ready, done] = [count('ready'), count('done')];
    const isBusy = files.some((file) => file.isBusy);
    const isEnough = this.isEnough(files);
    const rest = files.length - done;
    this.#place.hidden = files.length === 0;
    setText(this.#start, TEXTS.startAll(ready));
    this.#start.hidden = ready === 0;
    this.#finish.hidden = !isEnough || isBusy;
    this.#finish.disabled = isFinishing;
    this.#finish.classList.toggle('second', ready > 0);
    const text = isEnough ? TEXTS.enough(done) : TEXTS.missing(done, this.#least);
    setText(this.#text, isEnough && !isBusy && rest > 0 ? `${text} ${TEXTS.notAll(rest)}` : text);
  }

  /** Focuses what comes next. @returns false when nothing can be done with all of them */
  focus(): boolean {
    const next = [this.#start, this.#finish].find((button) => !button.hidden);
    next?.focus();
    return next !== undefined;
  }
}

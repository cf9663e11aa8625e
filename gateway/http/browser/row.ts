import { sizeText } from '../../policy/amounts.js';
import { element, setText } from './dom.js';
import { sentText } from './fits.js';
import { shownName } from './shown.js';
import { spanText, TEXTS } from './texts.js';
import type { Phase, Shown } from './transfer.js';

/** Previewing a larger picture may need more memory than a phone has. */
const LARGEST_PREVIEW = 40_000_000;
/** Types that browsers show; not SVG, which is a document. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

type Action = 'start' | 'remove' | 'pause' | 'resume' | 'cancel' | 'retry';

const ACTIONS: Readonly<Record<Phase, readonly Action[]>> = {
  ready: ['start', 'remove'],
  queued: ['cancel'],
  starting: ['pause', 'cancel'],
  sending: ['pause', 'cancel'],
  finishing: ['cancel'],
  waiting: ['retry', 'pause', 'cancel'],
  paused: ['resume', 'cancel'],
  failed: ['retry', 'remove'],
  cancelled: ['retry', 'remove'],
  partly: ['remove'],
  done: [],
};
/** The most likely actions, shown as filled buttons. */
const FIRST: ReadonlySet<Action> = new Set(['start', 'resume']);
/** Actions that are harmless when a key is pressed twice. */
const SAFE: ReadonlySet<Action> = new Set([...FIRST, 'retry', 'pause']);
/** Phases with a progress bar. */
const BARRED: ReadonlySet<Phase> = new Set(['starting', 'sending', 'finishing', 'waiting', 'paused']);

/** One file in the list. */
export class Row {
  readonly item: HTMLLIElement;
  readonly #transfer: Shown;
  readonly #facts = element('div', { class: 'facts' });
  readonly #bar: HTMLProgressElement;
  readonly #actions = element('div', { class: 'actions' });
  readonly #name: string;
  readonly #onRemove: () => void;
  readonly #isOfSeveral: boolean;
  readonly #preview: string | undefined;
  #drawn: readonly Action[] = [];

  /** @param isOfSeveral it can be removed after it has arrived, too */
  constructor(transfer: Shown, onRemove: () => void, isOfSeveral: boolean) {
    const { file } = transfer;
    this.#transfer = transfer;
    this.#onRemove = onRemove;
    this.#isOfSeveral = isOfSeveral;
    this.#name = shownName(file.name);
    this.#bar = element('progress', { max: '1', value: '0', 'aria-label': TEXTS.progress(this.#name) });
    const isShown = file instanceof File && PICTURE.test(file.type) && file.size <= LARGEST_PREVIEW;
    this.#preview = isShown ? URL.createObjectURL(file) : undefined;
    this.item = element(
      'li',
      { tabindex: '-1' },
      this.#thumb(),
      element('div', { class: 'name' }, element('bdi', {}, this.#name)),
      this.#facts,
      this.#bar,
      this.#actions,
    );
    this.draw();
  }

  /** Shows the file's present state. */
  draw(): void {
    const { phase, sent, file } = this.#transfer;
    setText(this.#facts, this.#factsText());
    this.#bar.hidden = !BARRED.has(phase);
    // the progress is unknown before the server's first answer
    if (phase === 'starting' && sent === 0) this.#bar.removeAttribute('value');
    else this.#bar.value = file.size === 0 ? 1 : sent / file.size;
    this.item.classList.toggle('stalled', phase === 'paused' || phase === 'waiting');
    this.item.classList.toggle('failed', phase === 'failed');
    const all = phase === 'done' && this.#isOfSeveral ? (['remove'] as const) : ACTIONS[phase];
    const { canPause, canRetry } = this.#transfer;
    const isOffered = (action: Action) => (action === 'pause' ? canPause : action !== 'retry' || canRetry);
    const actions = all.filter(isOffered);
    if (actions.join() === this.#drawn.join()) return;
    this.#drawn = actions;
    const hadFocus = this.#actions.contains(document.activeElement);
    this.#actions.replaceChildren(...actions.map((action) => this.#button(action)));
    this.#actions.hidden = actions.length === 0;
    // after a pressed button disappears, the focus stays in the row
    if (hadFocus) this.focus();
  }

  /** Focuses the most likely button, unless pressing it by mistake would do harm. */
  focus(): void {
    const [first] = this.#drawn;
    if (first !== undefined && SAFE.has(first)) this.#actions.querySelector('button')?.focus();
    else this.item.focus();
  }

  /** Removes it from the page. */
  remove(): void {
    this.item.remove();
    if (this.#preview !== undefined) URL.revokeObjectURL(this.#preview);
  }

  #thumb(): HTMLElement {
    if (this.#preview !== undefined) {
      const picture = element('img', { src: this.#preview, alt: TEXTS.preview(this.#name) });
      const box = element('div', { class: 'thumb' }, picture);
      // a file that is not what its name says shows no preview
      picture.addEventListener('error', () => box.replaceChildren(this.#ending()));
      return box;
    }
    return element('div', { class: 'thumb', 'aria-hidden': 'true' }, this.#ending());
  }

  #ending(): string {
    return /\.(\w{1,5})$/.exec(this.#name)?.[1] ?? TEXTS.file;
  }

  #factsText(): string {
    const { phase, sent, file, retryAt, perSecond, left, problem } = this.#transfer;
    const size = sizeText(file.size);
    switch (phase) {
      case 'ready':
        return `${size} · ${TEXTS.isReady}`;
      case 'queued':
        return `${size} · ${TEXTS.isQueued}`;
      case 'partly':
        return TEXTS.isPartly(sentText(sent, file.size));
      case 'starting':
        return `${size} · ${TEXTS.isStarting}`;
      case 'sending': {
        const parts = [sentText(sent, file.size)];
        if (perSecond !== undefined) parts.push(TEXTS.rate(sizeText(perSecond)));
        if (left !== undefined) parts.push(TEXTS.left(spanText(left)));
        return parts.join(' · ');
      }
      case 'finishing':
        return `${size} · ${TEXTS.isFinishing}`;
      case 'paused':
        return `${sentText(sent, file.size)} · ${TEXTS.isPaused}`;
      case 'waiting':
        if (!navigator.onLine) return TEXTS.offline;
        return `${problem} ${TEXTS.again(Math.max(0, Math.ceil(((retryAt ?? 0) - Date.now()) / 1000)))}`;
      case 'failed':
        // one alert has no room for what is wrong with each of several
        return this.#isOfSeveral && problem !== undefined ? problem : `${size} · ${TEXTS.isNotTaken}`;
      case 'cancelled':
        return TEXTS.isCancelled;
      case 'done':
        return `${size} · ${TEXTS.isDone}`;
    }
  }

  #button(action: Action): HTMLButtonElement {
    const label = TEXTS[action];
    const button = element(
      'button',
      {
        type: 'button',
        // of several the first button is the one for all of them
        class: FIRST.has(action) && !this.#isOfSeveral ? '' : 'second',
        'aria-label': TEXTS.of(label, this.#name),
      },
      label,
    );
    button.addEventListener('click', () => this.#do(action));
    return button;
  }

  #do(action: Action): void {
    if (action === 'pause') this.#transfer.pause();
    else if (action === 'cancel') this.#transfer.cancel();
    else if (action === 'remove') this.#onRemove();
    else this.#transfer.start();
  }
}

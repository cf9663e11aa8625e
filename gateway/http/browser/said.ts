import { setText } from './dom.js';

/** Readers take an announcement up at once, and after this time it may no longer be true. */
const SAID_MS = 5000;

/** Announcements for readers who cannot see the page. */
export class Said {
  readonly #place: HTMLElement;
  #timer = 0;
  #choice = '';

  constructor(place: HTMLElement) {
    this.#place = place;
  }

  /** Announces something once: who reads the page later reads how it is then. */
  say(text: string): void {
    setText(this.#place, text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => setText(this.#place, ''), SAID_MS);
  }

  /** Announces which files are chosen. */
  sayChosen(text: string): void {
    this.#choice = text;
    this.say(text);
  }

  /** Takes that back, once they are sent or removed. */
  unsayChosen(): void {
    if (this.#place.textContent === this.#choice) setText(this.#place, '');
  }
}

import type { Come } from './page-data.js';
import type { Shown } from './transfer.js';

/** A file of several that came before this page was opened, all of it or a part: the browser no longer has it. */
export class ComeFile implements Shown {
  readonly come: Come;
  readonly file: Shown['file'];
  readonly isBusy = false;
  readonly canPause = false;
  readonly canRetry = false;
  readonly mayBeStored = false;
  readonly problem = undefined;
  readonly retryAt = undefined;
  readonly perSecond = undefined;
  readonly left = undefined;

  constructor(come: Come) {
    this.come = come;
    this.file = { name: come.name, size: come.size, type: '' };
  }

  get phase(): 'done' | 'partly' {
    return this.come.offset === this.come.size ? 'done' : 'partly';
  }

  get sent(): number {
    return this.come.offset;
  }

  start(): void {}
  pause(): void {}
  cancel(): void {}
  end(): void {}
}

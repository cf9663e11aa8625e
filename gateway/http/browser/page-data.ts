/** Facts from the server for the page's script, as JSON in `data-upload` of its `main`. */
export interface PageData {
  /** Bytes. */
  largest: number;
  /** The announced size, if there is one. */
  size?: number;
  /** Types (`image/png`, `image/*`) and extensions (`.png`), one of which the file must match; absent: anything. */
  accept?: readonly string[];
  /** The accepted types in words for people. */
  types: string;
  /** Whether an upload can stop and go on. */
  isResumable: boolean;
  /** What has arrived of a file already. */
  begun?: Begun;
  /** Present where the link takes several files. */
  several?: SeveralFiles;
  /** Milliseconds since the Unix epoch, by the server's clock. */
  expiresAt: number;
  /** When the page was made, by the same clock. */
  now: number;
}

/** An upload that has begun: how far it is, and by what its file is known again. */
export interface Begun {
  /** Names it among all that were begun with its link. Absent: all of it has come. */
  upload?: string;
  offset: number;
  size: number;
  name: string;
  lastModified: number;
}

/** How many files a link takes, and what has come of them before the page was opened. */
export interface SeveralFiles {
  least: number;
  most: number;
  /** Bytes of all of them together, where that is limited. */
  together?: number;
  come: readonly Come[];
}

/** A file of several that has come, or a part of it. */
export interface Come extends Begun, FilePlace {}

/** What one of several files is called, and the name of its own address, beside the page's. */
export interface FilePlace {
  id: string;
  ticket: string;
}

/** `GET` of the page's address with `Accept: application/json`. */
export interface TicketState {
  status: 'open' | 'completed' | 'expired' | 'cancelled' | 'locked' | 'unknown';
}

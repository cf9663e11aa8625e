/**
 * PDFium, as `@hyzyla/pdfium` brings it: WebAssembly, so that a fault in it is an exception and not a way into this
 * process; without JavaScript and XFA. It has 11 MB, more than Wharf itself: an optional dependency, without which
 * a PDF has no preview.
 */
const PACKAGE: string = '@hyzyla/pdfium';

interface Pixels {
  data: Uint8Array;
  width: number;
  height: number;
}

export interface Page {
  /** Points, rounded down. */
  getOriginalSize(): { originalWidth: number; originalHeight: number };
  /** `render` gets four bytes a pixel: red, green, blue, alpha. */
  render(options: { scale: number; render: (pixels: Pixels) => Promise<Uint8Array> }): Promise<Pixels>;
}

export interface Document {
  getPageCount(): number;
  getPage(index: number): Page;
  destroy(): void;
}

interface Library {
  /** Rejects with an Error whose text is PDFium's reason. */
  loadDocument(bytes: Uint8Array): Promise<Document>;
}

/** One PDFium for this process, from the first PDF to the first fault in it. */
class Pdfium {
  #loaded: Promise<Library | undefined> | undefined;

  /** @returns undefined when it is not installed */
  load(): Promise<Library | undefined> {
    this.#loaded ??= load();
    return this.#loaded;
  }

  /** After a fault nothing in its memory can be relied on: the next PDF gets a new one. */
  giveUp(): undefined {
    this.#loaded = undefined;
  }

  close(document: Document): void {
    if (this.#loaded === undefined) return;
    try {
      document.destroy();
    } catch {
      this.giveUp();
    }
  }
}

export const pdfium = new Pdfium();

async function load(): Promise<Library | undefined> {
  let found: { PDFiumLibrary: { init(): Promise<Library> } };
  try {
    found = await import(PACKAGE);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
  return found.PDFiumLibrary.init();
}

/** PDFium's code for it is 4, which the library only spells out. */
export function isForPassword(error: unknown): boolean {
  return error instanceof Error && /^Password required/.test(error.message);
}

import type { FilePlace } from './page-data.js';
import { request } from './request.js';
import { failure, Later, type Wire } from './wire.js';

const JSON_ONLY = { accept: 'application/json' };
const REMOVE_MS = 10_000;

/** The address of one of several files. It is asked for when the file is to be sent. */
export class FileAddress {
  readonly #page: string;
  #place: FilePlace | undefined;

  /** @param page address of the page */
  constructor(page: string, place?: FilePlace) {
    this.#page = page;
    this.#place = place;
  }

  /** The file's id; undefined as long as it has no address. */
  get id(): string | undefined {
    return this.#place?.id;
  }

  /** @throws Refused, Later, Lost, or the reason of `signal` */
  async url(signal: AbortSignal): Promise<string> {
    if (!this.#place) {
      const answer = await request({ method: 'POST', url: at(this.#page, 'add'), headers: JSON_ONLY, signal });
      if (answer.status !== 201) throw failure(answer);
      this.#place = placeIn(answer.text);
    }
    return new URL(this.#place.ticket, this.#page).href;
  }

  /** The server no longer takes anything there: the next attempt asks for another one. */
  forget(): void {
    this.#place = undefined;
  }

  /** Removes the file, as far as the server can be told. */
  async remove(): Promise<void> {
    const place = this.#place;
    this.#place = undefined;
    if (!place) return;
    const url = new URL(place.ticket, this.#page).href;
    await request({ method: 'DELETE', url, headers: JSON_ONLY, signal: AbortSignal.timeout(REMOVE_MS) });
  }
}

/** Says that all files are there, in this order. @throws Refused, Later, Lost */
export async function finishAll(page: string, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const body = new Blob([JSON.stringify(ids)], { type: 'application/json' });
  const answer = await request({ method: 'POST', url: at(page, 'finish'), headers: JSON_ONLY, body, signal });
  if (answer.status !== 201) throw failure(answer);
}

/** Sends a file to its own address. */
export function addressedWire(address: FileAddress, wireAt: (url: string) => Wire): Wire {
  let known: { url: string; wire: Wire } | undefined;
  return {
    keeps: wireAt('').keeps,
    async begin(file, signal) {
      const url = await address.url(signal);
      if (known?.url !== url) known = { url, wire: wireAt(url) };
      return known.wire.begin(file, signal);
    },
    async send(...parameters) {
      if (!known) throw new Error('nothing has begun');
      return known.wire.send(...parameters);
    },
    drop: async () => known?.wire.drop(),
  };
}

function at(page: string, parameter: string): string {
  const url = new URL(page);
  url.search = parameter;
  url.hash = '';
  return url.href;
}

function placeIn(text: string): FilePlace {
  const { id, ticket } = JSON.parse(text) as Partial<FilePlace>;
  // a name beside the page's, and no address elsewhere
  if (typeof id !== 'string' || typeof ticket !== 'string' || !/^[\w-]+$/.test(ticket)) throw new Later();
  return { id, ticket };
}

import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../file.js';
import { newFileId } from '../handles/handle.js';
import type { Library } from '../library.js';
import type { ProgressNotes } from '../tickets/progress.js';
import { checkSeveral, severalRefused } from '../tickets/several.js';
import { placeTicket, type Tickets } from '../tickets/ticket.js';
import type { UploadIntent } from '../tickets/upload-intent.js';
import type { Arrivals } from './arrivals.js';
import type { Uploads } from './upload.js';
import type { Admission, UploadLinks } from './upload-links.js';
import { uploadDone } from './uploaded.js';

interface SeveralUploadsDeps {
  uploadLinks: Pick<UploadLinks, 'find'>;
  library: Library;
  tickets: Tickets;
  notes: Pick<ProgressNotes, 'find'>;
  uploads: Pick<Uploads, 'isReceiving'>;
  arrivals: Pick<Arrivals, 'has'>;
}

/** Place of one file in a bundle, with a ticket of its own. */
interface Place {
  id: string;
  ticket: string;
}

/**
 * Uploads of several files with one link. Each file gets a place in the link's bundle and a ticket of its own, which
 * stores one file like any other ticket; the bundle is complete when the person says so.
 */
export class SeveralUploads {
  readonly #deps: SeveralUploadsDeps;

  constructor(deps: SeveralUploadsDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a place for one more file. Where there are as many as there may be, one at which nothing has begun is given up.
   * @throws GatewayError `upload_several_refused`
   */
  async add(ticket: string, { fileId: bundle, intent, expiresAt }: Admission): Promise<Place> {
    const { library, tickets } = this.#deps;
    const { principal, maxSize, maxSizeBy, accept, acceptBy, isCallers, purpose, several } = intent;
    const most = several?.most ?? 0;
    const id = newFileId();
    if (!(await library.bundles.add(bundle, id, most, (file) => this.#isFree(file))))
      throw severalRefused('tooManyFiles', most, most + 1);
    await library.expect(id, principal, expiresAt);
    const own: UploadIntent = {
      principal,
      bundle,
      ...(maxSize !== undefined && { maxSize }),
      ...(maxSizeBy && { maxSizeBy }),
      ...(accept && { accept }),
      ...(acceptBy && { acceptBy }),
      ...(isCallers && { isCallers }),
      ...(purpose && { purpose }),
    };
    const place = { id, ticket: placeTicket(ticket, id) };
    await tickets.mintUpload(id, own, expiresAt, place.ticket);
    return place;
  }

  /** Whether a ticket is that of one of several files. */
  async isPlace(ticket: string): Promise<boolean> {
    return (await this.#deps.tickets.findUpload(ticket))?.intent.bundle !== undefined;
  }

  /**
   * Gives up the place of a file, and the file if it is there.
   * @param ticket the file's own
   * @throws GatewayError `link_unknown`, `upload_done` when the bundle is closed
   */
  async remove(ticket: string): Promise<void> {
    const { library, tickets } = this.#deps;
    const found = await tickets.findUpload(ticket);
    if (found?.intent.bundle === undefined) throw new GatewayError('link_unknown', { reason: 'fileNotFound' });
    if (!(await library.bundles.remove(found.intent.bundle, found.fileId))) throw uploadDone();
    await tickets.revokeUpload(ticket);
    await library.leaveOut([found.fileId], found.intent.principal, found.expiresAt);
  }

  /** The places of a link's files, and the files that are there. */
  async places(ticket: string, bundleId: string): Promise<(Place & { record: FileRecord | undefined })[]> {
    const { library } = this.#deps;
    const { files = [] } = (await library.bundles.find(bundleId)) ?? {};
    return Promise.all(
      files.map(async (id) => ({ id, ticket: placeTicket(ticket, id), record: await library.find(id) })),
    );
  }

  /**
   * Completes a link's bundle, also after the link has expired. Files that are not chosen are removed.
   * @param order ids of the files; if empty, all that are there, in the order of their places
   * @throws GatewayError `link_unknown`, `upload_done`, `upload_cancelled`, `upload_locked`, `upload_several_refused`
   */
  async finish(ticket: string, order: readonly string[]): Promise<FileRecord[]> {
    const { uploadLinks, library } = this.#deps;
    const found = await uploadLinks.find(ticket);
    const several = found?.intent.several;
    if (!found || !several) throw new GatewayError('link_unknown', { reason: 'fileNotFound' });
    if (found.isRevoked) throw new GatewayError('upload_cancelled');
    if (found.isLocked) throw new GatewayError('upload_locked');
    let chosen: FileRecord[] = [];
    const before = await library.bundles.complete(found.fileId, async ({ files }) => {
      const records = await Promise.all(files.map((id) => library.find(id)));
      const stored = new Map(records.flatMap((record) => (record ? [[record.id, record]] : [])));
      const ids = order.length === 0 ? [...stored.keys()] : [...new Set(order)];
      chosen = ids.flatMap((id) => stored.get(id) ?? []);
      if (chosen.length < ids.length) throw severalRefused('uploadIncomplete', ids.length, chosen.length);
      checkSeveral(several, chosen);
      return ids;
    });
    if (!before) throw uploadDone();
    const kept = new Set(chosen.map(({ id }) => id));
    const others = before.files.filter((id) => !kept.has(id));
    await library.leaveOut(others, found.intent.principal, found.expiresAt);
    return chosen;
  }

  /** Nothing has come, and nothing is on its way, here or to another replica. */
  async #isFree(file: string): Promise<boolean> {
    const { library, notes, uploads, arrivals } = this.#deps;
    if (uploads.isReceiving(file)) return false;
    if ((await arrivals.has(file)) || (await notes.find(file)) !== undefined) return false;
    return (await library.find(file)) === undefined;
  }
}

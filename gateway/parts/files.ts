import type { HeldBudget } from '../budget/held.js';
import type { Ledger } from '../budget/ledger.js';
import type { PartBudget } from '../budget/parts.js';
import type { FewLines } from '../few-lines.js';
import type { Scans } from '../files/antivirus/scans.js';
import { FileControl } from '../files/control/control.js';
import type { Origins } from '../files/flow/origins.js';
import type { IngestDeps } from '../files/ingest/ingest.js';
import { PartBuffers } from '../files/ingest/part-buffers.js';
import { QuietWatch } from '../files/ingest/quiet-watch.js';
import { Library, type LibraryDeps } from '../files/library.js';
import { CleanUps } from '../files/retention/clean-ups.js';
import { RecentUses } from '../files/retention/recent-uses.js';
import { ShortFiles } from '../files/stored/short-files.js';
import type { OpenTap } from '../files/tap.js';
import { ProgressNotes } from '../files/tickets/progress.js';
import { Tickets } from '../files/tickets/ticket.js';
import { UploadCodes } from '../files/tickets/upload-code.js';
import { Arrivals } from '../files/uploads/arrivals.js';
import { ResumableUploads } from '../files/uploads/resumable/resumable-uploads.js';
import { SeveralUploads } from '../files/uploads/several-uploads.js';
import { Uploads } from '../files/uploads/upload.js';
import { UploadLinks } from '../files/uploads/upload-links.js';
import type { Audit } from '../ports/audit.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { StateStore } from '../ports/state-store.js';
import type { StateKeys } from '../secrets/state-keys.js';

interface FilePartsDeps extends Pick<LibraryDeps, 'account' | 'comparisons' | 'expiry' | 'readLazy'> {
  objects: ObjectStore;
  state: StateStore;
  keys: StateKeys;
  held: HeldBudget;
  budget: PartBudget;
  /** Counts the short files that are kept. */
  short: Ledger;
  /** Who else reads every file's bytes on their way into the store. */
  taps: readonly OpenTap[];
  /** What operators do, and servers' files, are recorded here, if anywhere. */
  audit: Pick<Audit, 'isOn' | 'record' | 'note'>;
  /** Absent: files are not scanned. */
  antivirus?: Scans | undefined;
  /** Notes where bytes come from, while some rule asks for that. */
  flow: { readonly isOn: boolean; readonly origins: Pick<Origins, 'note'> };
  clock: Clock;
  log: Log;
  fewLines: FewLines;
  settings: LibraryDeps['settings'] & {
    /** `limits.file`, which a reload may change. */
    fileLimit: () => number;
    /** `timeouts.upload` */
    uploadMs: number;
    /** Whether links for people are used together with a code. */
    asksCodes: boolean;
  };
}

export interface FileParts {
  tickets: Tickets;
  library: Library;
  /** Short files for calls. */
  shortFiles: ShortFiles;
  /** Extends the files that calls use. */
  uses: RecentUses;
  ingest: IngestDeps;
  uploads: Uploads;
  uploadLinks: UploadLinks;
  /** Absent where the object store cannot go on with a write. */
  resumable: ResumableUploads | undefined;
  /** For links that take several files. */
  several: SeveralUploads;
  cleanUps: CleanUps;
  /** For operators. */
  control: FileControl;
}

/** Puts together what a gateway does with files, over its stores. */
export function createFileParts(deps: FilePartsDeps): FileParts {
  const { objects, state, keys, held, budget, clock, log, settings } = deps;
  const { links, retentionMs } = settings;
  const origins = () => (deps.flow.isOn ? deps.flow.origins : undefined);
  const tickets = new Tickets(state, keys, clock, links.lastingMs);
  const cleanUps = new CleanUps((fields, text) => {
    const few = deps.fewLines.take(text);
    if (few) log.warn({ ...fields, ...few }, text);
  });
  const library = new Library({
    ...deps,
    seal: keys.seal,
    tickets,
    cleanUps,
    leftOut: (place) => void byLink.resumable?.passedBy(place),
    // a reload may bring the first rule, or take away the last one
    get origins() {
      return origins();
    },
  });
  const ingest = {
    objects,
    budget,
    buffers: new PartBuffers(objects.partSize),
    held,
    quiet: new QuietWatch(),
    cleanUps,
    taps: deps.taps,
    antivirus: deps.antivirus,
    get origins() {
      return origins();
    },
  };
  const shortFiles = new ShortFiles({ objects, ledger: deps.short });
  const uses = new RecentUses({ touch: (id) => library.touch(id), clock, retentionMs });
  const stored = { tickets, library, shortFiles, uses, ingest };
  const byLink = uploadParts(deps, stored);
  const { audit, account } = deps;
  const control = new FileControl({ objects, state, audit, account, clock, retentionMs });
  return { ...stored, ...byLink, cleanUps, control };
}

/** What takes files that come by link. */
function uploadParts(
  { objects, state, keys, account, clock, log, settings }: FilePartsDeps,
  {
    tickets,
    library,
    shortFiles,
    uses,
    ingest,
  }: Pick<FileParts, 'tickets' | 'library' | 'shortFiles' | 'uses' | 'ingest'>,
): Pick<FileParts, 'uploads' | 'uploadLinks' | 'resumable' | 'several'> {
  const { links, fileLimit, retentionMs, publicUrl, uploadMs, asksCodes } = settings;
  const common = { ingest, account, library, clock };
  const arrivals = new Arrivals(state);
  const uploads = new Uploads({ ...common, shortFiles, uses, arrivals, settings: { fileLimit, retentionMs } });
  const uploadLinks = new UploadLinks({
    library,
    tickets,
    codes: new UploadCodes(state, keys, clock),
    clock,
    account,
    settings: { publicUrl, ttlMs: links.ttlMs, fileLimit, asksCodes },
  });
  const notes = new ProgressNotes(state, clock);
  const { resumable: writes } = objects;
  const resumable =
    writes &&
    new ResumableUploads({ ...common, uploadLinks, notes, tickets, log, writes, settings: { retentionMs, uploadMs } });
  return {
    uploads,
    uploadLinks,
    resumable,
    several: new SeveralUploads({ uploadLinks, library, tickets, notes, uploads, arrivals }),
  };
}

import { create as noAudit } from '../../../../adapters/audit/none.js';
import { create as createObjects, settings as objectSettings } from '../../../../adapters/objects/memory.js';
import { create as createState, settings as stateSettings } from '../../../../adapters/state/memory.js';
import { UNSHARED } from '../../../../gateway/budget/ledger.js';
import { FewLines } from '../../../../gateway/few-lines.js';
import type { LibraryDeps } from '../../../../gateway/files/library.js';
import type { OpenTap } from '../../../../gateway/files/tap.js';
import type { UploadIntent } from '../../../../gateway/files/tickets/upload-intent.js';
import type { ResumableUploads } from '../../../../gateway/files/uploads/resumable/resumable-uploads.js';
import type { UploadBody } from '../../../../gateway/files/uploads/upload.js';
import { createFileParts, type FileParts } from '../../../../gateway/parts/files.js';
import type { Log } from '../../../../gateway/ports/log.js';
import type { ObjectStore } from '../../../../gateway/ports/object-store.js';
import type { StateStore } from '../../../../gateway/ports/state-store.js';
import { StateKeys } from '../../../../gateway/secrets/state-keys.js';
import { comparisonLedger, heldBudget, partBudget, shortLedger } from '../../../helpers/budgets.js';
import { noAccount } from '../../../helpers/no-account.js';
import { PIXEL } from '../../../helpers/pixel.js';
import { silentLog } from '../../../helpers/silent-log.js';

export const NEVER = new AbortController().signal;
export const TTL = 60_000;
export const RETENTION = 10 * TTL;
export const FILE_LIMIT = 3_000_000;
export const HOUR = 3_600_000;

export interface LabOptions {
  readLazy?: LibraryDeps['readLazy'];
  objects?: (real: ObjectStore) => ObjectStore;
  state?: (real: StateStore) => StateStore;
  taps?: readonly OpenTap[];
  log?: Log;
  /** Bytes of short files that are kept; default: none. */
  short?: number;
  /** Default: RETENTION. */
  retentionMs?: number;
  /** `timeouts.upload`; default: 3 * TTL. */
  uploadMs?: number;
  /** `links.style` */
  links?: 'presigned' | 'gateway';
}

/** Uploads over stores in memory, with a clock that can be moved. */
export function createLab(options: LabOptions = {}) {
  const time = { now: 1_800_000_000_000 };
  const clock = { now: () => time.now, ticks: () => time.now };
  const realObjects = createObjects(objectSettings.parse({}), { clock });
  const realState = createState(stateSettings.parse({}), { sharing: UNSHARED, clock });
  const objects = options.objects?.(realObjects) ?? realObjects;
  const state = options.state?.(realState) ?? realState;
  const watched: string[] = [];
  const held = heldBudget(256 * 1024 * 1024);
  const budget = partBudget(4 * objects.partSize, 1000);
  const replicas: FileParts[] = [];
  const parts = (): FileParts => {
    const made = createFileParts({
      objects,
      state,
      keys: new StateKeys(['secret']),
      held,
      budget,
      short: shortLedger(options.short ?? 0),
      comparisons: comparisonLedger(),
      taps: options.taps ?? [],
      audit: noAudit({}),
      flow: { isOn: false, origins: { note: async () => {} } },
      account: noAccount,
      clock,
      log: options.log ?? silentLog,
      fewLines: new FewLines(clock),
      expiry: { watch: (_id, key) => watched.push(key) },
      readLazy: options.readLazy ?? (() => Promise.reject(new Error('not here'))),
      settings: {
        gatewayId: 'wharf',
        publicUrl: () => 'http://gw.example',
        links: { style: options.links ?? 'gateway', ttlMs: TTL },
        retentionMs: options.retentionMs ?? RETENTION,
        queueMs: 1000,
        fileLimit: () => FILE_LIMIT,
        uploadMs: options.uploadMs ?? 3 * TTL,
        asksCodes: false,
      },
    });
    replicas.push(made);
    return made;
  };
  const { tickets, library, shortFiles, uses, ingest, uploads, uploadLinks, several, cleanUps } = parts();
  /** Uploads that go on, as one more replica knows them. */
  const replica = (): ResumableUploads => {
    const { resumable } = parts();
    if (!resumable) throw new Error('this store can go on with a write');
    return resumable;
  };
  return {
    time,
    replica,
    /** Links for several files, as one more replica knows them. */
    severalElsewhere: () => parts().several,
    objects: realObjects,
    state: realState,
    tickets,
    library,
    shortFiles,
    uses,
    ingest,
    uploads,
    uploadLinks,
    several,
    budget,
    held,
    cleanUps,
    watched,
    authorize: (intent: Partial<UploadIntent> = {}) => uploadLinks.authorize({ principal: 'ann', ...intent }),
    /** One whole try, as a route makes it. */
    send: async (
      ticket: string,
      bytes: Buffer | AsyncIterable<Buffer>,
      claims: ReturnType<UploadBody['claims']> = {},
    ) => uploads.receive(await uploadLinks.admit(ticket), { bytes: piecesOf(bytes), claims: () => claims }, NEVER),
    /** Keys of all objects, and the bytes of one. */
    keys: async () => {
      for (const made of replicas) await made.cleanUps.settled(10_000);
      const found: string[] = [];
      for await (const { key } of realObjects.list('')) found.push(key);
      return found;
    },
    bytesOf: async (key: string) => {
      const read = await realObjects.get(key, { signal: NEVER });
      if (read.kind !== 'found') throw new Error(`${key} is ${read.kind}`);
      return Buffer.concat(await read.body.toArray());
    },
  };
}

export type Lab = ReturnType<typeof createLab>;

async function* piecesOf(bytes: Buffer | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (Buffer.isBuffer(bytes)) yield bytes;
  else yield* bytes;
}

export const HELLO = Buffer.from('Hello world!');
export const HELLO_DIGEST = 'wFNeS-K3n_2TKRMFQ2v4iTFOSj-uwF7P_Lt98xrZ5Ro';
export const PNG = PIXEL;
export const PDF = Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n', 'latin1');

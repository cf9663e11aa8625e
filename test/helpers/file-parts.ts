import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create as noAudit } from '../../adapters/audit/none.js';
import { adapters } from '../../adapters/index.js';
import { UNSHARED } from '../../gateway/budget/ledger.js';
import type { Settings } from '../../gateway/config/config.js';
import { FewLines } from '../../gateway/few-lines.js';
import { createFileParts } from '../../gateway/parts/files.js';
import { DEFAULT_LIMITS, DEFAULT_TIMEOUTS } from '../../gateway/policy/limits.js';
import type { Log } from '../../gateway/ports/log.js';
import { StateKeys } from '../../gateway/secrets/state-keys.js';
import { comparisonLedger, heldBudget, partBudget, shortLedger } from './budgets.js';
import { noAccount } from './no-account.js';
import { freshName, redisUrl, s3Config } from './services.js';
import { silentLog } from './silent-log.js';
import type { Stores } from './wharf.js';

/** The same for every gateway of a test that shares its stores. */
export const SECRET = 'the tests of this repository share this secret';
export const PRINCIPAL = 'anonymous';
const RETENTION_MS = 3_600_000;
/** Longer than any other process can keep this machine busy: what is tested here is no time-out. */
const TIMEOUTS = { ...DEFAULT_TIMEOUTS, state: 20_000, store: 60_000, queue: 60_000 };

export interface FilePartsOptions {
  stores: Stores;
  bucket?: string;
  keyPrefix?: string;
  /** Where links lead. */
  publicUrl: () => string;
  fileLimit?: number;
  /** How long links live. */
  linkMs?: number;
  log?: Log;
}

export type FileParts = Awaited<ReturnType<typeof openFileParts>>;

/** What a gateway does with files, over real stores and without its ports: another replica, as far as the stores know. */
export async function openFileParts(options: FilePartsOptions) {
  const { stores, publicUrl, fileLimit = DEFAULT_LIMITS.file, linkMs = 600_000, log = silentLog } = options;
  const clock = { now: () => Date.now(), ticks: () => performance.now() };
  const deps = { limits: DEFAULT_LIMITS, timeouts: TIMEOUTS, sharing: UNSHARED, log, clock, inheritedEnv: {} };
  const folder = await mkdtemp(join(tmpdir(), 'wharf-files-'));
  const bucket = options.bucket ?? freshName('files');
  const keyPrefix = options.keyPrefix ?? `${freshName('files')}:`;
  const isShared = stores === 's3+redis';
  const open = <Part>(
    list: Readonly<
      Record<string, { settings: { parse(s: Settings): unknown }; create(s: Settings, d: typeof deps): Promise<Part> }>
    >,
    name: string,
    settings: Settings,
  ): Promise<Part> => {
    const adapter = list[name];
    if (!adapter) throw new Error(`there is no adapter ${name}`);
    return adapter.create(adapter.settings.parse(settings) as Settings, deps);
  };
  const objects = isShared
    ? await open(adapters.objects, 's3', s3Config(bucket))
    : await open(adapters.objects, 'filesystem', { path: folder });
  await objects.prepare();
  const state = isShared
    ? await open(adapters.state, 'redis', { url: redisUrl(), keyPrefix })
    : await open(adapters.state, 'memory', {});
  const held = heldBudget(DEFAULT_LIMITS.held);
  const budget = partBudget(DEFAULT_LIMITS.partMemory, TIMEOUTS.queue);
  const { library, uploads, uploadLinks, resumable, several, cleanUps } = createFileParts({
    objects,
    state,
    keys: new StateKeys([SECRET]),
    held,
    budget,
    short: shortLedger(DEFAULT_LIMITS.shortFiles),
    comparisons: comparisonLedger(),
    taps: [],
    audit: noAudit({}),
    flow: { isOn: false, origins: { note: async () => {} } },
    account: noAccount,
    clock,
    log,
    fewLines: new FewLines(clock),
    expiry: { watch() {} },
    readLazy: () => Promise.reject(new Error('not here')),
    settings: {
      gatewayId: 'wharf',
      publicUrl,
      links: { style: 'gateway', ttlMs: linkMs },
      retentionMs: RETENTION_MS,
      queueMs: TIMEOUTS.queue,
      fileLimit: () => fileLimit,
      uploadMs: TIMEOUTS.upload,
      asksCodes: true,
    },
  });
  if (!resumable) throw new Error('each of these stores can go on with a write');
  return {
    objects,
    state,
    library,
    uploads,
    uploadLinks,
    resumable,
    several,
    budget,
    held,
    cleanUps,
    bucket,
    keyPrefix,
    /** Keys of all objects there are. */
    keys: async () => {
      await cleanUps.settled(30_000);
      const keys: string[] = [];
      for await (const { key } of objects.list('')) keys.push(key);
      return keys;
    },
    /** SHA-256 in base64url of what is stored under a handle; undefined when no file is. */
    digestOf: async (uri: string) => {
      const resolved = await library.resolve(uri, PRINCIPAL);
      if (resolved.kind !== 'ready') return undefined;
      const read = await objects.get(resolved.record.key, { signal: AbortSignal.timeout(30_000) });
      if (read.kind !== 'found') return undefined;
      const hash = createHash('sha256');
      for await (const chunk of read.body) hash.update(chunk as Buffer);
      return hash.digest('base64url');
    },
    close: async () => {
      await cleanUps.settled(30_000);
      await Promise.all([objects.close(), state.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

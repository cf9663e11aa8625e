import { afterAll } from '@jest/globals';
import { create as noAudit } from '../../../adapters/audit/none.js';
import { create as mcpInline } from '../../../adapters/dialects/mcp-inline/index.js';
import { create as createObjects, settings as objectSettings } from '../../../adapters/objects/memory.js';
import { create as createState, settings as stateSettings } from '../../../adapters/state/memory.js';
import type { HeldBudget } from '../../../gateway/budget/held.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import type { PartBudget } from '../../../gateway/budget/parts.js';
import { FewLines } from '../../../gateway/few-lines.js';
import { PartBuffers } from '../../../gateway/files/ingest/part-buffers.js';
import { QuietWatch } from '../../../gateway/files/ingest/quiet-watch.js';
import { Library } from '../../../gateway/files/library.js';
import { CleanUps } from '../../../gateway/files/retention/clean-ups.js';
import type { Tickets } from '../../../gateway/files/tickets/ticket.js';
import { Hosts } from '../../../gateway/hosts/hosts.js';
import { absentCaller } from '../../../gateway/identity/identities.js';
import type { Inquire } from '../../../gateway/mcp/inquire.js';
import type { Previews } from '../../../gateway/parts/previews.js';
import { DEFAULT_LIMITS, type Limits, type Timeouts } from '../../../gateway/policy/limits.js';
import { ToolLimits } from '../../../gateway/policy/tool-limits.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { Dialect, JsonObject } from '../../../gateway/ports/dialect.js';
import type { ToolSettings } from '../../../gateway/ports/file-slot.js';
import type { Host } from '../../../gateway/ports/host.js';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import type { MessageCuts } from '../../../gateway/relay/cut/message-cuts.js';
import { places, slotMin, TO_CLIENT_TREES } from '../../../gateway/relay/cut/places.js';
import { CutReader } from '../../../gateway/relay/cut/reader.js';
import type { RelayDeps } from '../../../gateway/relay/deps.js';
import { type ExchangeFacts, noFacts } from '../../../gateway/relay/exchange.js';
import { LocalTools } from '../../../gateway/relay/local/local-tools.js';
import type { Addressee, PendingRequest } from '../../../gateway/relay/pending-request.js';
import { dismiss, toClient } from '../../../gateway/relay/results/to-client.js';
import { TaskTools } from '../../../gateway/relay/results/tool/tool-of-task.js';
import type { Sessions } from '../../../gateway/relay/session.js';
import { Catalog } from '../../../gateway/relay/tools/catalog.js';
import { FileTakers } from '../../../gateway/relay/tools/file-takers.js';
import { OfferedTools } from '../../../gateway/relay/tools/offered-tools.js';
import { UnknownMethods } from '../../../gateway/relay/upstream/unknown-methods.js';
import { Seal } from '../../../gateway/secrets/seal.js';
import { StateKeys } from '../../../gateway/secrets/state-keys.js';
import type { HeldMessage } from '../../../gateway/wire/json/reader.js';
import { comparisonLedger, heldBudget, partBudget } from '../../helpers/budgets.js';
import { catalogOptions } from '../../helpers/catalog.js';
import { chunkSize } from '../../helpers/effort.js';
import { noAccount } from '../../helpers/no-account.js';
import { silentLog } from '../../helpers/silent-log.js';

const HOST = 'http://store.test';
const LINK = `${HOST}/d/`;
const PART_SIZE = 1024;

const TIMEOUTS: Timeouts = {
  queue: 1000,
  idle: 1000,
  grace: 1000,
  upload: 1000,
  upstream: 1000,
  store: 1000,
  state: 1000,
  drain: 1000,
  elicitation: 60_000,
  elicitationNotice: 1000,
  elicitationRound: 1000,
  session: 60_000,
};

/**
 * What all labs can share is made once: some suites make thousands of labs, and the trees, the keys, the buffers and the
 * lists of known clients took them half of their time.
 */
const DIALECTS: readonly Dialect[] = [mcpInline()];
const SEAL = new Seal(['the secret of these tests']);
const KEYS = new StateKeys([]);
const HOSTS = new Hosts([], []);
/** By the size of a part. */
const BUFFERS = new Map<number, PartBuffers>();
const OBJECT_SETTINGS = objectSettings.parse({});
const STATE_SETTINGS = stateSettings.parse({});

/** Outside of the lab: a store's timer keeps what its clock sees, and some suites make thousands of labs. */
const clock = { now: () => Date.now(), ticks: () => Date.now() };

const opened: StateStore[] = [];
afterAll(async () => {
  await Promise.all(opened.map((state) => state.close()));
});

/** Whose exchanges they are. */
export const OWNER = { principal: 'somebody', server: 'lab' };

export interface LabOptions {
  limits?: Partial<Limits>;
  version?: string;
  /** How results are written for the client. */
  host?: Host;
  /** Bytes of a part; small ones let small files have several. */
  partSize?: number;
  /** What the server answers to a tools/list of Wharf's own. */
  tools?: JsonObject[];
  dialects?: readonly Dialect[];
  /** Begins previews, and makes those of stored files. */
  previews?: Previews;
  /** What the operator says of each tool. */
  settings?: Readonly<Record<string, ToolSettings>>;
  /** What single tools lower of the limits. */
  toolLimits?: ConstructorParameters<typeof ToolLimits>[1];
  /** Wraps the stores, to make them fail. */
  wrapObjects?: (store: ObjectStore) => ObjectStore;
  wrapState?: (store: StateStore) => StateStore;
}

export interface Relayed {
  /** What the client gets of one message, as bytes; undefined for one that is dropped. */
  messages: (Buffer | undefined)[];
  /** The bytes of all of them, one after the other. */
  text: string;
  /** Thrown when the body could not be read on. */
  error: unknown;
}

/** The cut and the translation on stores in memory: everything between an upstream's bytes and a client's. */
export class RelayLab {
  readonly objects: ObjectStore;
  readonly state: StateStore;
  readonly limits: Limits;
  readonly held: HeldBudget;
  readonly budget: PartBudget;
  readonly deps: RelayDeps;
  readonly facts: ExchangeFacts;
  /** Requests of Wharf's own. */
  asked = 0;
  readonly #cleanUps = new CleanUps(silentLog.warn);
  readonly #client: ClientFacts;
  readonly #inquire: Inquire;

  constructor(options: LabOptions = {}) {
    const partSize = options.partSize ?? PART_SIZE;
    const memory = createObjects(OBJECT_SETTINGS, { clock });
    const store: ObjectStore = { ...memory, partSize };
    this.objects = options.wrapObjects?.(store) ?? store;
    const state = createState(STATE_SETTINGS, { sharing: UNSHARED, clock });
    opened.push(state);
    this.state = options.wrapState?.(state) ?? state;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.held = heldBudget(this.limits.held);
    this.budget = partBudget(this.limits.partMemory, 1000);
    const dialects = options.dialects ?? DIALECTS;
    const library = new Library({
      seal: SEAL,
      objects: this.objects,
      state: this.state,
      // a file's link is the same each time, so that messages can be compared
      tickets: {
        mintDownload: async (id: string) => ({ ticket: `f/${id}`, expiresAt: clock.now() + 60_000 }),
      } as unknown as Tickets,
      clock,
      log: silentLog,
      cleanUps: this.#cleanUps,
      expiry: { watch: () => {} },
      comparisons: comparisonLedger(),
      audit: noAudit({}),
      account: noAccount,
      readLazy: () => Promise.reject(new Error('not here')),
      settings: {
        gatewayId: 'lab',
        publicUrl: () => HOST,
        links: { style: 'gateway', ttlMs: 60_000 },
        retentionMs: 60_000,
        queueMs: 1000,
      },
    });
    this.deps = {
      server: 'lab',
      limits: this.limits,
      toolLimits: new ToolLimits('lab', options.toolLimits ?? {}),
      accepts: this.limits.message,
      timeouts: TIMEOUTS,
      pace: { idleMs: TIMEOUTS.idle, leastRate: 0, graceMs: TIMEOUTS.grace },
      cut: {
        ingest: {
          objects: this.objects,
          budget: this.budget,
          buffers: buffersOf(partSize),
          held: this.held,
          quiet: new QuietWatch(),
          cleanUps: this.#cleanUps,
          taps: [],
        },
        library,
        limits: this.limits,
        held: this.held,
        previewAhead: options.previews?.ahead,
        places: places(dialects),
        tree: TO_CLIENT_TREES.of(dialects, undefined),
        slotMin: slotMin(this.limits, false),
      },
      files: { library, previewOf: options.previews?.of ?? (async () => undefined), audit: noAudit({}) },
      dialects,
      sessions: {} as Sessions,
      callers: {
        beginProcess: () => () => {},
        beginCalls: async () => () => {},
        beginFurther: async () => () => {},
        mostSessions: () => undefined,
      },
      audit: noAudit({}),
      catalog: new Catalog({}, dialects, catalogOptions()),
      offered: new OfferedTools('lab', { allow: new Map(), keys: new Map() }, {}),
      takers: new FileTakers(),
      taskTools: new TaskTools({ state: this.state, keys: KEYS, log: silentLog, keptMs: 60_000 }),
      // of the other direction
      settings: options.settings ?? {},
      hosts: HOSTS,
      incoming: {} as RelayDeps['incoming'],
      tempFiles: {} as RelayDeps['tempFiles'],
      storeInline: () => Promise.reject(new Error('not here')),
      transfer: {} as RelayDeps['transfer'],
      unknownMethods: new UnknownMethods(),
      upstreamOrigin: undefined,
      fetchOrigins: [],
      ownPorts: () => [],
      upstreamUrl: undefined,
      upstreamHeaders: {},
      uploadLinks: {} as RelayDeps['uploadLinks'],
      elicitation: () => undefined,
      methods: {} as RelayDeps['methods'],
      resources: {} as RelayDeps['resources'],
      tools: new LocalTools([], 'off', true),
      asking: {} as RelayDeps['asking'],
      checkTool: undefined,
      isAccepted: undefined,
      clock: { now: () => 0, ticks: () => 0 },
      log: silentLog,
      fewLines: new FewLines({ ticks: () => 0 }),
      metrics: { count() {}, observe() {}, gauge() {} },
    };
    this.#client = { protocolVersion: options.version ?? '2025-06-18', capabilities: {} };
    if (options.host) this.#client = { ...this.#client, host: options.host };
    this.facts = noFacts();
    this.#inquire = async () => {
      this.asked += 1;
      return { result: { tools: options.tools ?? [] } };
    };
  }

  /**
   * Sends a body through. `pieces` are its chunks; requests are what its answers answer, by default one `tools/call`
   * of the tool `t` with the id 1.
   * @param remap gives a message the names of its client
   */
  async relay(
    pieces: Iterable<Buffer>,
    kind: 'json' | 'sse' | 'lines' = 'json',
    requests: readonly PendingRequest[] = [call('1')],
    remap?: Addressee['remap'],
  ): Promise<Relayed> {
    const arrived: { message: HeldMessage; cuts: MessageCuts }[] = [];
    const controller = new AbortController();
    const reader = new CutReader(
      kind,
      this.deps.cut,
      { message: (message, cuts) => arrived.push({ message, cuts }) },
      { owner: OWNER, signal: controller.signal },
    );
    const byId = new Map(requests.map((request) => [request.id, request]));
    const to: Addressee = {
      identity: absentCaller(OWNER.principal),
      principal: OWNER.principal,
      client: this.#client,
      answered: (id) => byId.get(id),
      onlyOpen: () => (byId.size === 1 ? [...byId.keys()][0] : undefined),
      inquire: this.#inquire,
      facts: this.facts,
      signal: controller.signal,
      ...(remap && { remap }),
    };
    const messages: (Buffer | undefined)[] = [];
    const forward = async () => {
      for (const { message, cuts } of arrived.splice(0)) {
        if (message.empty) await dismiss(cuts);
        else messages.push(await this.#send(message, cuts, to));
      }
    };
    let error: unknown;
    try {
      for (const piece of pieces) {
        await reader.feed(piece);
        await reader.settle();
        await forward();
      }
      await reader.end();
      await forward();
    } catch (thrown) {
      error = thrown;
      reader.abandon();
      for (const { cuts } of arrived.splice(0)) await dismiss(cuts);
    }
    return { messages, text: Buffer.concat(messages.filter((bytes) => bytes !== undefined)).toString('utf8'), error };
  }

  async #send(message: HeldMessage, cuts: MessageCuts, to: Addressee): Promise<Buffer | undefined> {
    const outgoing = await toClient(message, cuts, this.deps, to);
    if (!outgoing) return undefined;
    try {
      const bytes: Buffer[] = [];
      for (const piece of outgoing.pieces) {
        if (Buffer.isBuffer(piece)) bytes.push(piece);
        else for await (const chunk of piece()) bytes.push(Buffer.from(chunk));
      }
      return Buffer.concat(bytes);
    } finally {
      await outgoing.sent();
    }
  }

  /** The bytes behind a link; undefined when there is no such object. */
  async at(link: string): Promise<Buffer | undefined> {
    const read = await this.objects.get(link.slice(LINK.length), { signal: new AbortController().signal });
    if (read.kind !== 'found') return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of read.body) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  isLink(text: unknown): text is string {
    return typeof text === 'string' && text.startsWith(LINK);
  }

  async keys(): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list('f/')) keys.push(key);
    return keys;
  }

  /** Everything that must be back at nothing once no message is under way; objects without a record are leaks. */
  async leaks(): Promise<{ held: number; parts: number; queued: number; orphans: string[]; unfinished: number }> {
    await this.#cleanUps.settled(10_000);
    const orphans: string[] = [];
    for (const key of await this.keys()) {
      if ((await this.state.read(`file:${key.slice(2)}`)) === undefined) orphans.push(key);
    }
    const unfinished = await this.objects.removeUnfinished(Number.POSITIVE_INFINITY);
    return { held: this.held.used, parts: this.budget.used, queued: this.budget.queued, orphans, unfinished };
  }
}

function buffersOf(partSize: number): PartBuffers {
  const buffers = BUFFERS.get(partSize) ?? new PartBuffers(partSize);
  BUFFERS.set(partSize, buffers);
  return buffers;
}

/** What `leaks()` gives when there are none. */
export const NO_LEAKS = { held: 0, parts: 0, queued: 0, orphans: [], unfinished: 0 };

/** A pending request for a tool. @param id as JSON text */
export function call(id: string, tool = 't'): PendingRequest {
  return { id, method: 'tools/call', subject: tool, params: {}, base: [] };
}

export function request(id: string, method: string, subject?: string): PendingRequest {
  return { id, method, subject, params: {}, base: [] };
}

/** A body in pieces of the same size. */
export function* inPieces(body: Buffer | string, size: number): Generator<Buffer> {
  const bytes = Buffer.from(body);
  const step = chunkSize(size);
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
}

/** The body framed as a transport does. */
export function framed(body: string, kind: 'json' | 'sse' | 'lines'): string {
  if (kind === 'sse') return `event: message\nid: 7\ndata: ${body}\n\n`;
  return kind === 'lines' ? `${body}\n` : body;
}

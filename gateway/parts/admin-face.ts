import type { Address } from '../config/config.js';
import { formatAddress } from '../config/schema/fields.js';
import type { GatewayError } from '../errors.js';
import type { EndpointDeps } from '../http/console/trying/gated-endpoint.js';
import { listen } from '../http/listener.js';
import type { GuardSettings } from '../http/origin/guard.js';
import { gaugeBuild, gaugeParts, gaugeServers, partsBeside, told, toldOfRoom } from '../http/part-state.js';
import type { Refusals } from '../http/refusals.js';
import { lateAdminApp } from '../http/routes/late-apps.js';
import { consoleParts } from './console.js';
import type { Filing } from './filing.js';
import type { ProcessParts } from './process.js';
import type { Serving } from './serving.js';

/** A separate limit, so that load on the public port does not lock out the operator. */
const ADMIN_SOCKETS = { limit: 'adminListen', allowed: 100 };

interface AdminParts {
  /** Absent: no port is opened. */
  address: Address | undefined;
  /** For the console and the metrics. */
  version: string | undefined;
  /** What operators try tools with. */
  exchanges: Omit<EndpointDeps, 'servers' | 'isDraining'>;
  guard: GuardSettings;
  isDraining: () => boolean;
  refused: Refusals['note'];
  /** Takes each error that is a fault of Wharf. */
  fault: (error: GatewayError) => void;
}

/** Opens the admin port: health, metrics, files under control and the console. @returns its URL; empty without one */
export async function openAdminFace(
  shared: ProcessParts,
  filing: Filing,
  serving: Serving,
  { address, version, exchanges, guard, isDraining, refused, fault }: AdminParts,
): Promise<string> {
  const { config, closers, keys, clock, metrics, audit, held, budget, publicBase, previewer, limits, timeouts, log } =
    shared;
  const { servers, present, waysIn, sessions } = serving;
  const { library, control, ingest } = filing;
  const { lately, open } = exchanges;
  const beside = partsBeside({ previewer, servers, issuers: () => waysIn.now.issuers }, clock, log);
  gaugeServers(metrics, beside);
  const checks = checksOf(shared);
  gaugeParts(metrics, checks, clock);
  gaugeBuild(metrics, version);
  const pages = consoleParts({
    ...{ config, keys, clock, control, audit, lately, metrics, held, budget, open, sessions },
    waiting: shared.ledgers.questions,
    ...{
      present: () => present.config,
      whyRefused: () => present.whyRefused,
      publicUrl: publicBase,
      version: version ?? '',
    },
    ...{ exchanges, servers, isDraining, library, ingest, limits },
  });
  const app = lateAdminApp({
    ...{ control, checks, rooms: roomsOf(shared), beside, isDraining, metrics, fault, refused },
    ...pages,
  });
  if (!address) return '';
  const face = await listen({
    ...address,
    app,
    guard: { ...guard, answersToAddresses: true, isReadByPages: false, trustsLoopbackPages: false },
    // readiness is still reported while draining
    isDraining: () => false,
    sockets: ADMIN_SOCKETS,
    limits,
    idleMs: timeouts.idle,
    refused,
  });
  closers.add(async () => {
    void face.close();
    await face.closeAll();
  });
  serving.ownPorts.push(face.port);
  return `http://${formatAddress({ ...address, port: face.port })}`;
}

/** What has to work for a gateway to be ready. */
function checksOf({ objects, state, scanner, audit, log, clock }: ProcessParts): Map<string, () => Promise<void>> {
  const parts: [string, () => Promise<void>][] = [
    ['objects', () => objects.check()],
    ['state', () => state.check()],
  ];
  if (scanner) parts.push(['antivirus', () => scanner.check()]);
  if (audit.isOn) parts.push(['audit', () => audit.check()]);
  return new Map(parts.map(([name, check]) => [name, told(name, check, { log, clock })]));
}

/** Where it can be seen that files can be read and none can be stored. */
function roomsOf({ objects, log, clock }: ProcessParts): Map<string, () => Promise<void>> {
  const { checkRoom } = objects;
  return new Map(checkRoom ? [['objects', toldOfRoom('objects', () => checkRoom(), { log, clock })]] : []);
}

import { ACCESS } from './access.js';
import { ASKING } from './asking.js';
import { AUDIT } from './audit.js';
import { BEHAVIOUR } from './behaviour.js';
import { BUDGET } from './budget.js';
import { FILES_WATCHED } from './files-watched.js';
import { HANDOFF } from './handoff.js';
import { HOSTS } from './hosts.js';
import { IDENTITY } from './identity.js';
import { LOOP } from './loop.js';
import type { Mutant } from './mutant.js';
import { ORIGIN } from './origin.js';
import { STORES } from './stores.js';
import { TELEMETRY } from './telemetry.js';
import { UPLOADS } from './uploads.js';

/** Every seeded fault, by kind. */
export const MUTANTS: Readonly<Record<string, readonly Mutant[]>> = {
  access: ACCESS,
  asking: ASKING,
  audit: AUDIT,
  behaviour: BEHAVIOUR,
  filesWatched: FILES_WATCHED,
  handoff: HANDOFF,
  hosts: HOSTS,
  budget: BUDGET,
  identity: IDENTITY,
  loop: LOOP,
  origin: ORIGIN,
  stores: STORES,
  telemetry: TELEMETRY,
  uploads: UPLOADS,
};

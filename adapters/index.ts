import type { z } from 'zod';
import type { Adapter, AdapterDeps, AdapterList } from '../gateway/config/adapter-list.js';
import * as clamd from './antivirus/clamd.js';
import * as noAntivirus from './antivirus/none.js';
import * as fileAudit from './audit/file.js';
import * as noAudit from './audit/none.js';
import * as stdoutAudit from './audit/stdout.js';
import { create as mcpApps } from './dialects/mcp-apps/index.js';
import { create as mcpInline } from './dialects/mcp-inline/index.js';
import { create as openaiFileParams } from './dialects/openai-file-params/index.js';
import { create as sep1306 } from './dialects/sep-1306/index.js';
import { create as sep2356 } from './dialects/sep-2356/index.js';
import { create as sep2532 } from './dialects/sep-2532/index.js';
import { create as sep2631 } from './dialects/sep-2631/index.js';
import { hosts } from './hosts/index.js';
import * as joseOauth from './oauth/jose.js';
import * as filesystemObjects from './objects/filesystem.js';
import * as memoryObjects from './objects/memory.js';
import * as s3Objects from './objects/s3.js';
import * as localPreviews from './previews/local.js';
import * as noPreviews from './previews/none.js';
import * as memoryState from './state/memory.js';
import * as redisState from './state/redis.js';
import * as noTelemetry from './telemetry/none.js';
import * as otlpTelemetry from './telemetry/otlp.js';
import * as httpsTransfer from './transfer/https.js';
import * as legacySse from './upstream/legacy-sse.js';
import * as stdio from './upstream/stdio.js';
import * as streamableHttp from './upstream/streamable-http.js';

interface AdapterFile<Schema extends z.ZodObject, Port, Deps> {
  settings: Schema;
  create(settings: z.output<Schema>, deps: Deps): Port | Promise<Port>;
  preflight?: (
    settings: z.output<Schema>,
    deps: Pick<AdapterDeps, 'inheritedEnv'>,
  ) => ReturnType<NonNullable<Adapter<Port, Deps>['preflight']>>;
  warnings?: (settings: z.output<Schema>) => ReturnType<NonNullable<Adapter<Port, Deps>['warnings']>>;
}

/** Erases the type of an adapter's settings, so that adapters of one port fit into one list. */
function adapter<Schema extends z.ZodObject, Port, Deps>(file: AdapterFile<Schema, Port, Deps>): Adapter<Port, Deps> {
  const { preflight, warnings } = file;
  return {
    settings: file.settings,
    // The config has parsed `settings` with this very schema, which the type can no longer express.
    create: async (settings, deps) => file.create(settings as z.output<Schema>, deps),
    ...(preflight && { preflight: (settings, deps) => preflight(settings as z.output<Schema>, deps) }),
    ...(warnings && { warnings: (settings) => warnings(settings as z.output<Schema>) }),
  };
}

/**
 * The one list of the adapters of every port. A name here is the file's name and the config's value. Heavy libraries
 * are imported inside `create`, so an unused adapter costs nothing.
 */
export const adapters: AdapterList = {
  objects: {
    filesystem: adapter(filesystemObjects),
    memory: adapter(memoryObjects),
    s3: { ...adapter(s3Objects), presigns: true },
  },
  state: {
    memory: adapter(memoryState),
    redis: adapter(redisState),
  },
  previews: {
    local: adapter(localPreviews),
    none: adapter(noPreviews),
  },
  antivirus: {
    clamd: adapter(clamd),
    none: adapter(noAntivirus),
  },
  audit: {
    file: adapter(fileAudit),
    none: adapter(noAudit),
    stdout: { ...adapter(stdoutAudit), takesStdout: true },
  },
  telemetry: {
    none: adapter(noTelemetry),
    otlp: adapter(otlpTelemetry),
  },
  upstream: {
    'legacy-sse': adapter(legacySse),
    stdio: adapter(stdio),
    'streamable-http': adapter(streamableHttp),
  },
  transfer: {
    https: adapter(httpsTransfer),
  },
  oauth: {
    jose: adapter(joseOauth),
  },
  dialects: [openaiFileParams(), sep2631(), sep1306(), sep2356(), sep2532(), mcpApps(), mcpInline()],
  hosts,
};

import type { ServerConfig } from '../../config/config.js';
import { ToolLimits } from '../../policy/tool-limits.js';
import type { CommonDeps } from '../../relay/common-deps.js';
import { NOTED_FROM, places, slotMin, TO_CLIENT_TREES } from '../../relay/cut/places.js';
import { TracedExchanges } from '../../telemetry/exchange-watch.js';
import { measuredExchanges } from '../../telemetry/measured-exchanges.js';
import type { ServerParts } from './shared-parts.js';

/** What every room of the relay needs. */
export function commonDeps({ server, parts, limits }: ServerParts): CommonDeps {
  const { name, accepts, tools, fetchOrigins, copies } = server;
  const { config, tempFiles, tracer, clock } = parts;
  const { timeouts } = config;
  const toolLimits = new ToolLimits(name, tools);
  const address = addressOf(server);
  const traced = tracer && new TracedExchanges(tracer, clock, { name, url: address.upstreamUrl });
  return {
    server: name,
    limits,
    toolLimits,
    accepts,
    timeouts,
    pace: { idleMs: timeouts.idle, leastRate: limits.leastRate, graceMs: timeouts.grace },
    cut: cutDeps(parts, limits, toolLimits),
    dialects: parts.dialects,
    settings: tools,
    hosts: parts.hosts,
    tempFiles: copies === undefined ? tempFiles : tempFiles.in(copies),
    transfer: parts.transfer,
    ...address,
    fetchOrigins,
    ownPorts: parts.ownPorts,
    sessions: parts.sessions,
    callers: parts.quotas,
    audit: parts.audit,
    watch: measuredExchanges(name, parts, traced),
    clock,
    log: parts.log.child({ server: name }),
    fewLines: parts.fewLines,
    metrics: parts.metrics,
  };
}

/** How files are taken out of the server's messages, and from which length on. */
function cutDeps(
  parts: ServerParts['parts'],
  limits: ServerParts['limits'],
  toolLimits: ToolLimits,
): CommonDeps['cut'] {
  const { ingest, library, held, dialects, previews } = parts;
  const least = toolLimits.least(limits);
  // each file is judged, however short
  const areJudged = parts.flow !== undefined || limits.acceptResults !== undefined || toolLimits.limitsResults;
  const fileMin = areJudged ? NOTED_FROM : undefined;
  return {
    ingest,
    library,
    limits,
    held,
    previewAhead: previews.ahead,
    places: places(dialects),
    tree: TO_CLIENT_TREES.of(dialects, fileMin),
    fileMin,
    slotMin: slotMin(least, ingest.antivirus !== undefined || areJudged),
    ...(least.inlineOther < limits.inlineOther && { nestedFrom: least.inlineOther }),
  };
}

function addressOf({ settings }: ServerConfig): Pick<CommonDeps, 'upstreamOrigin' | 'upstreamUrl' | 'upstreamHeaders'> {
  const { url, headers } = settings;
  const upstreamHeaders = { ...(headers as Record<string, string> | undefined) };
  if (typeof url !== 'string' && !(url instanceof URL)) {
    return { upstreamOrigin: undefined, upstreamUrl: undefined, upstreamHeaders };
  }
  const { origin, href } = new URL(url);
  return { upstreamOrigin: origin, upstreamUrl: href, upstreamHeaders };
}

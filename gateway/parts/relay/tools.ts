import { acceptedWithin } from '../../policy/message-limits.js';
import type { CommonDeps } from '../../relay/common-deps.js';
import type { RelayDeps } from '../../relay/deps.js';
import { LocalTools } from '../../relay/local/local-tools.js';
import { uploadTools } from '../../relay/local/upload-tools.js';
import { Catalog } from '../../relay/tools/catalog.js';
import { maxSizeOf } from '../../relay/tools/max-size.js';
import { OfferedTools } from '../../relay/tools/offered-tools.js';
import { viewOf } from '../../relay/upstream/view.js';
import type { ServerParts } from './shared-parts.js';

type ToolParts = Pick<RelayDeps, 'catalog' | 'takers' | 'offered' | 'tools'>;
type Taking = Parameters<typeof uploadTools>[1]['slots'];

/** What is known about the server's tools, and the tools that Wharf adds to them. */
export function toolDeps(common: CommonDeps, { server, parts }: ServerParts): ToolParts {
  const { limits, timeouts, clock, log } = common;
  const { name, tools, uploadTool } = server;
  const { config, keptTools: kept, takers, uploadLinks, library } = parts;
  const catalog = new Catalog(tools, common.dialects, { server: name, kept, limits, timeouts, takers, clock, log });
  const offered = new OfferedTools(name, parts.access, tools);
  const slots = takingFiles(catalog, offered, common);
  const added = uploadTools(uploadTool, { server: name, fileLimit: limits.file, uploadLinks, library, slots });
  return { catalog, takers, offered, tools: new LocalTools(added, uploadTool, !config.links.lasting) };
}

/** The arguments that take a caller's files, and what each of them accepts. */
function takingFiles(
  catalog: Catalog,
  offered: OfferedTools,
  { server, limits, toolLimits, accepts }: CommonDeps,
): Taking {
  return (identity, { protocolVersion }) => {
    const { principal } = identity;
    const owner = { principal, server };
    const shown = offered.shownTo(identity);
    return catalog.slots(viewOf(protocolVersion, principal)).flatMap(({ tool, slot }) => {
      const known = shown ? shown(tool) : tool;
      if (known === undefined) return [];
      const own = toolLimits.lower(limits, [tool]);
      const { accept, acceptBy } = acceptedWithin(slot.accept, own.accept);
      const taking = { ...slot, ...(accept && { accept }) };
      const { bytes: maxSize, ...maxSizeBy } = maxSizeOf(slot, { limits: own, accepts, owner });
      return [{ tool: known, slot: taking, maxSize, maxSizeBy, ...(acceptBy && { acceptBy }) }];
    });
  };
}

import type { Dialect } from '../../../gateway/ports/dialect.js';
import { declares, isShown } from './capability.js';
import { showResources, showServer } from './lists.js';
import { streaming } from './streaming.js';
import { write } from './write.js';

/** SEP-2532: `resources/stream`, a resource as the body of an HTTP answer instead of base64 in JSON. */
export function create(): Dialect {
  return {
    name: 'sep-2532',
    about: 'resources are read as bytes by `resources/stream`.',
    revision: '2026-04-07 (c4addbf6)',
    reads: ['resourceStreaming'],
    // servers that speak it still write files as plain MCP does
    forClients: { spokenBy: isShown, write },
    declares,
    showServer,
    showResources,
    streaming,
  };
}

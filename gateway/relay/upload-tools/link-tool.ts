import type { Library, Opened } from '../../files/library.js';
import type { JsonObject } from '../../ports/json.js';
import type { LocalTool } from '../local-tools.js';
import { failedCall, text } from './result.js';

export interface LinkToolDeps {
  library: Pick<Library, 'open' | 'refer' | 'touch'>;
}

const INPUT: JsonObject = {
  type: 'object',
  properties: {
    handle: { type: 'string', description: 'The handle of the file, mcp-file://…, as a tool or an upload gave it.' },
  },
  required: ['handle'],
};

const OUTPUT: JsonObject = {
  type: 'object',
  properties: {
    uri: { type: 'string', description: 'The handle.' },
    url: { type: 'string', description: 'The link. Whoever has it can download the file until it expires.' },
    name: { type: 'string' },
    mimeType: { type: 'string' },
    size: { type: 'integer', description: 'Bytes.' },
    digest: { type: 'string', description: 'sha-256: and the digest in base64url.' },
    expiresAt: { type: 'string', description: 'When the link stops working, RFC 3339. The handle goes on.' },
  },
  required: ['uri', 'url', 'name', 'mimeType', 'size', 'digest', 'expiresAt'],
};

const DESCRIPTION =
  'Get a fresh download link for a file whose handle (mcp-file://…) you have, for instance because an earlier link has ' +
  'expired. To give a file to another tool of this server pass the handle itself, not a link.';

/** In whatever a model copies: `Handle: mcp-file://…`, a Markdown link, quotes. */
const HANDLE = /mcp-file:\/\/[^\s"'`<>()[\]]+/i;

const REFUSALS: Record<Exclude<Opened['kind'], 'ready'>, [reason: string, text: string]> = {
  pending: ['uploadIncomplete', 'the file of this handle has not been uploaded yet. Upload it first.'],
  expired: ['fileExpired', 'the file of this handle has expired. Run the tool that gave it, or upload it, again.'],
  unknown: ['fileNotFound', 'there is no file of yours with this handle. Copy the handle whole, as it was given.'],
};

/** Links die; handles live on, and give new ones. */
export function linkTool(name: string, { library }: LinkToolDeps): LocalTool {
  return {
    name,
    definition: {
      title: 'Get a download link',
      description: DESCRIPTION,
      inputSchema: INPUT,
      outputSchema: OUTPUT,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    call: async ({ handle }, principal) => {
      const uri = typeof handle === 'string' ? HANDLE.exec(handle)?.[0] : undefined;
      if (uri === undefined) {
        return failedCall("The argument 'handle' must be a handle, mcp-file://…, and holds none.", {
          reason: 'malformedUri',
          argument: 'handle',
        });
      }
      const found = await library.open(uri, principal, new AbortController().signal);
      if (found.kind !== 'ready') {
        const [reason, words] = REFUSALS[found.kind];
        return failedCall(`The argument 'handle' is ${uri}: ${words}`, { reason, argument: 'handle' });
      }
      await library.touch(found.record.id);
      const { ttlSeconds: _, ...ref } = await library.refer(found.record);
      const lines = [
        `File: ${ref.name} (${ref.mimeType}, ${ref.size} bytes)`,
        `Download: ${ref.url}`,
        `The link works until ${ref.expiresAt}; the handle gives new ones: ${ref.uri}`,
      ];
      return { content: [text(lines.join('\n'))], structuredContent: ref };
    },
  };
}

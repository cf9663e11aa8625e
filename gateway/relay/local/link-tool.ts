import { GatewayError } from '../../errors.js';
import type { Library, Opened } from '../../files/library.js';
import { fileLine, handleLine, lifeLine } from '../../policy/file-words.js';
import type { JsonObject } from '../../ports/json.js';
import type { LocalTool } from './local-tools.js';
import { failedCall, text } from './tool-text.js';

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

/** As short as clients allow: every host pays for it with each list of tools. */
const OUTPUT: JsonObject = {
  type: 'object',
  properties: { uri: { type: 'string' }, url: { type: 'string' }, expiresAt: { type: 'string' } },
  required: ['uri', 'url', 'expiresAt'],
};

const DESCRIPTION =
  'Get a new download link for a file whose handle (mcp-file://…) you have, when an earlier link has expired. A tool that ' +
  'takes a file takes the handle itself, not a link.';

/** Finds a handle in text that a model copies: `Handle: mcp-file://…`, a Markdown link, quotes; or its last part alone. */
const HANDLE = /mcp-file:\/\/[^\s"'`<>()[\]]+|^[bf]_[A-Za-z0-9_-]{22}$/i;

/** The handle of all files of one upload link, whether or not they are there. */
const SEVERAL = /(?:^|\/)b_[A-Za-z0-9_-]{22}$/;

const OF_SEVERAL =
  'this handle stands for several files, and no link leads to all of them. Pass it to the tool that takes the files; ' +
  'each file has a handle of its own, which the answer to its upload names.';

const REFUSALS: Record<Exclude<Opened['kind'], 'ready'>, [reason: string, text: string]> = {
  pending: ['uploadIncomplete', 'the file of this handle has not been uploaded yet. Upload it first.'],
  expired: ['fileExpired', 'the file of this handle has expired. Run the tool that gave it, or upload it, again.'],
  several: ['tooManyFiles', OF_SEVERAL],
  unknown: ['fileNotFound', 'there is no file of yours with this handle. Copy the handle whole, as it was given.'],
};

/** Links expire; handles stay valid, and this tool issues new links for them. */
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
    call: async ({ handle }, { principal, signal, refused }) => {
      const fail = (reason: string, words: string) => {
        refused(new GatewayError('params_invalid', { reason, text: words }));
        return failedCall(`The argument 'handle' ${words}`, { reason, argument: 'handle' });
      };
      const uri = typeof handle === 'string' ? HANDLE.exec(handle)?.[0] : undefined;
      if (uri === undefined) {
        const where =
          'A handle stands below the link in the text of a result; without it, run the tool that gave the file again.';
        return fail('malformedUri', `must be a handle, mcp-file://…, and holds none. ${where}`);
      }
      if (SEVERAL.test(uri)) {
        return fail('tooManyFiles', `is ${uri}: ${OF_SEVERAL}`);
      }
      const found = await library.open(uri, principal, signal);
      if (found.kind !== 'ready') {
        const [reason, words] = REFUSALS[found.kind];
        return fail(reason, `is ${uri}: ${words}`);
      }
      await library.touch(found.record.id);
      const { uri: handleUri, link, name: fileName, mimeType, size, digest } = await library.refer(found.record);
      const ref = { uri: handleUri, url: link.url, name: fileName, mimeType, size, digest, expiresAt: link.expiresAt };
      const lines = [fileLine(ref), ref.url, lifeLine(link), handleLine(ref.uri, [`${name} renews the link`])];
      return { content: [text(lines.join('\n'))], structuredContent: ref };
    },
  };
}

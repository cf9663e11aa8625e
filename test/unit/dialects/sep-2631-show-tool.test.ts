import { describe, expect, it } from '@jest/globals';
import { create as sep2631 } from '../../../adapters/dialects/sep-2631/index.js';
import { patchValue } from '../../../gateway/json/patch.js';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';
import type { JsonObject } from '../../../gateway/ports/dialect.js';
import { readerOf } from '../../../gateway/relay/tools/reader.js';
import { show } from '../../../gateway/relay/tools/show.js';
import { RemoteMethods } from '../../../gateway/relay/upstream/unknown-methods.js';
import { readTool } from '../../../gateway/tools/tool.js';

const DIALECTS = [sep2631()];
const MOST = 50 * 1024 * 1024;
const TOOL: JsonObject = {
  name: 't',
  inputSchema: {
    type: 'object',
    properties: {
      file: { type: 'string', format: 'uri', 'x-mcp-file': { maxSize: MOST, transferModes: ['inline', 'upload'] } },
    },
  },
};

/** The largest file that a client reads in the tool's schema. */
function largest(files: JsonObject): unknown {
  const remoteMethods = new RemoteMethods();
  const view = { server: 's', limits: DEFAULT_LIMITS, accepts: 2 * MOST, dialects: DIALECTS, uploadTool: undefined };
  const client = { protocolVersion: '2025-11-25', capabilities: { files } };
  const patches = show(readTool(TOOL, { settings: {}, dialects: DIALECTS }), readerOf(client, DIALECTS), {
    ...view,
    remoteMethods,
  });
  const { inputSchema } = patchValue(TOOL, patches) as {
    inputSchema: { properties: { file: { 'x-mcp-file': JsonObject } } };
  };
  return inputSchema.properties.file['x-mcp-file'].maxSize;
}

describe('SEP-2631: the size that a file may have', () => {
  it.each<JsonObject>([
    { upload: true },
    { upload: true, transports: ['https'] },
    { upload: true, transports: ['quic', 'https'] },
    { upload: true, transports: 'https' },
  ])('is that of an upload for a client with %j (2631-24)', (files) => {
    expect(largest(files)).toBe(MOST);
  });

  it.each<JsonObject>([{ upload: true, transports: ['quic'] }, { upload: true, transports: [] }, { download: true }])(
    'is that of a file inside the call for one with %j, which can upload nothing here (2631-08)',
    (files) => {
      expect(largest(files)).toBe(DEFAULT_LIMITS.inlineArgument);
    },
  );
});

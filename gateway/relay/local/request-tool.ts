import { GatewayError } from '../../errors.js';
import { largestUpload, type UploadIntent } from '../../files/tickets/upload-intent.js';
import type { UploadLinks } from '../../files/uploads/upload-links.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Identity } from '../../ports/identity.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import type { LocalTool } from './local-tools.js';
import { type TakingSlot, takenFiles, takingTools } from './taken-files.js';
import { refusedCall, text } from './tool-text.js';
import { atMost, offerOf } from './upload-steps.js';

export interface RequestToolDeps {
  /** Name of the server whose list contains it. */
  server: string;
  /** `limits.file` of that server. */
  fileLimit: number;
  uploadLinks: Pick<UploadLinks, 'authorize'>;
  /** The file slots of the server's tools, as far as this caller has seen them. */
  slots: (caller: Identity, client: ClientFacts) => readonly TakingSlot[];
}

const SHA_256 = { algorithm: 'sha-256' };

const INPUT: JsonObject = {
  type: 'object',
  properties: {
    tool: {
      type: 'string',
      description: 'Name of the tool that the file is for: the link takes what that tool takes.',
    },
    name: { type: 'string', description: 'File name with its ending, such as report.pdf; no path.' },
    mimeType: {
      type: 'string',
      description: 'Media type, such as application/pdf. Leave it out unless you are sure: the bytes must fit it.',
    },
    size: {
      type: 'integer',
      minimum: 0,
      description: 'Exact size in bytes. Leave it out unless you have measured it.',
    },
    sha256: {
      type: 'string',
      description: 'SHA-256 of the file, as sha256sum prints it. Leave it out unless you have computed it.',
    },
    message: {
      type: 'string',
      description: 'What to tell a person on the upload page: in a sentence which file is needed, and why.',
    },
  },
};

/** As short as clients allow: every host pays for it with each list of tools. */
const OUTPUT: JsonObject = {
  type: 'object',
  properties: {
    file: { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] },
    upload: { type: 'object' },
    maxSize: { type: 'integer' },
    page: { type: 'string' },
    code: { type: 'string' },
    curl: { type: 'string' },
    curlPut: { type: 'string' },
  },
  required: ['file', 'upload', 'maxSize', 'page', 'curl', 'curlPut'],
};

const DESCRIPTION =
  'Get a link to upload one file, and the handle under which this server’s tools take it. Use it when a tool needs a ' +
  'file that has no handle yet. The answer has a curl command, a page for a browser and the handle (mcp-file://…): have ' +
  'the file uploaded first, then pass the handle instead of the file. Never type base64 instead.';

/** For clients without a dialect: a link, a curl command and a handle, which a model can use by itself. */
export function requestTool(name: string, deps: RequestToolDeps): LocalTool {
  return {
    name,
    definition: {
      title: 'Request a file upload',
      description: DESCRIPTION,
      inputSchema: INPUT,
      outputSchema: OUTPUT,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    call: async (args, caller, client) => {
      try {
        const wanted = { ...readIntent(args), principal: caller.principal };
        const said = { tool: textOf(args, 'tool', 'invalidTool'), message: textOf(args, 'message', 'invalidMessage') };
        return await authorized(wanted, said, deps.slots(caller, client), deps);
      } catch (thrown) {
        return refusedCall(thrown, caller.refused);
      }
    },
  };
}

async function authorized(
  wanted: UploadIntent,
  { tool, message }: { tool: string | undefined; message: string | undefined },
  slots: readonly TakingSlot[],
  { server, fileLimit, uploadLinks }: RequestToolDeps,
): Promise<JsonObject> {
  const taken = takenFiles(slots, tool, fileLimit);
  if (!taken) {
    const tools = takingTools(slots, tool ?? '');
    throw invalid('invalidTool', `the tool '${tool}' takes no uploads; those of this server that do: ${tools}`);
  }
  const { accept, acceptBy } = taken;
  const intent = {
    ...wanted,
    maxSize: taken.maxSize,
    maxSizeBy: taken.maxSizeBy,
    ...(accept && { accept }),
    ...(acceptBy && { acceptBy }),
    isForPerson: true as const,
    purpose: { server, ...taken.purpose, ...(message !== undefined && { message }) },
  };
  const authorization = await uploadLinks.authorize(intent);
  const { name, mimeType, size, digest } = wanted;
  const maxSize = largestUpload(intent, fileLimit).allowed;
  const then = `pass this handle, instead of the file, to the tool ${tool === undefined ? 'that needs it' : `'${tool}'`}`;
  const { steps, ...offer } = offerOf(authorization, name, then);
  const file: JsonObject = {
    uri: authorization.uri,
    ...(name !== undefined && { name }),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
    ...(digest !== undefined && { digest: { ...SHA_256, value: digest } }),
  };
  return {
    content: [text(`A link to upload one file${atMost(maxSize, accept)}.\n${steps}`)],
    structuredContent: { file, ...offer, maxSize },
  };
}

/** @throws GatewayError `upload_invalid` */
function readIntent(args: JsonObject): Omit<UploadIntent, 'principal'> {
  const name = textOf(args, 'name', 'invalidName');
  const mimeType = textOf(args, 'mimeType', 'invalidMimeType');
  const size = numberOf(args, 'size', 'invalidSize');
  const sha256 = textOf(args, 'sha256', 'invalidDigest');
  return {
    ...(name !== undefined && { name }),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
    ...(sha256 !== undefined && { digest: digestOf(sha256) }),
  };
}

/** Models fill unknown values with null and "". */
function given(args: JsonObject, key: string): JsonValue | undefined {
  const value = args[key];
  return value === null || value === '' ? undefined : value;
}

function textOf(args: JsonObject, key: string, reason: string): string | undefined {
  const value = given(args, key);
  if (value === undefined || typeof value === 'string') return value;
  throw invalid(reason, `${key} must be a string, and is ${nameOf(value)}`);
}

function numberOf(args: JsonObject, key: string, reason: string): number | undefined {
  const value = given(args, key);
  if (value === undefined || typeof value === 'number') return value;
  throw invalid(reason, `${key} must be a number, and is ${nameOf(value)}`);
}

function nameOf(value: JsonValue): string {
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Converts hexadecimal, as tools print it, or base64 of either alphabet to base64url. */
function digestOf(sha256: string): string {
  const said = sha256.trim().replace(/^sha-?256[:=]\s*/i, '');
  if (/^[0-9a-f]{64}$/i.test(said)) return Buffer.from(said, 'hex').toString('base64url');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(said)) return said.replace('=', '').replaceAll('+', '-').replaceAll('/', '_');
  const detail = `sha256 must be 64 hexadecimal digits or base64 of 32 bytes, and has ${said.length} characters`;
  throw invalid('invalidDigest', detail);
}

function invalid(reason: string, detail: string): GatewayError {
  return new GatewayError('upload_invalid', { reason, detail });
}

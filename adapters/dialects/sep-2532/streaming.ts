import { GatewayError } from '../../../gateway/errors.js';
import { isObject } from '../../../gateway/json/value.js';
import { eraOf } from '../../../gateway/mcp/era.js';
import type { ClientFacts, RpcError } from '../../../gateway/ports/client.js';
import type { JsonObject } from '../../../gateway/ports/dialect.js';
import type { ResourceStreaming, StreamRefusal } from '../../../gateway/ports/resource-streaming.js';
import { isDeclared, takenBy } from './capability.js';

const INVALID_PARAMS = -32602;
const UNKNOWN_METHOD = -32601;
const MISSING_CAPABILITY = -32021;

/** The SEP's own codes. */
const SEP_CODES = { resourceNotFound: -32002, streamNotSupported: -32003, maxStreamSizeExceeded: -32004 } as const;

export const streaming: ResourceStreaming = {
  method: 'resources/stream',
  takenBy,
  read({ uri }) {
    if (typeof uri !== 'string' || uri === '') {
      throw new GatewayError('params_invalid', { reason: 'uriMissing', text: 'uri is required and is a string' });
    }
    return uri;
  },
  refuse,
  link: (uri, mimeType, { size, url }) => ({ uri, mimeType, size, downloadUrl: url }),
  givenBy: ({ resources }) => isObject(resources) && isDeclared(resources.stream),
  readError,
  readLink({ downloadUrl, mimeType, size }) {
    if (typeof downloadUrl !== 'string') return undefined;
    return {
      url: downloadUrl,
      ...(typeof mimeType === 'string' && { mimeType }),
      ...(typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 && { size }),
    };
  },
};

function refuse({ reason, text, uri, size, maxSize }: StreamRefusal, client: ClientFacts): RpcError {
  const { hasExtensionCodes } = eraOf(client.protocolVersion);
  if (reason === 'undeclared') {
    return hasExtensionCodes
      ? { code: UNKNOWN_METHOD, message: 'Method not found' }
      : { code: MISSING_CAPABILITY, message: text, data: { requiredCapabilities: { resourceStreaming: {} } } };
  }
  const data: JsonObject = { reason };
  if (uri !== undefined) data.uri = uri;
  if (size !== undefined) data.size = size;
  if (maxSize !== undefined) data.maxStreamSize = maxSize;
  if (reason === 'streamNotSupported') data.suggestion = 'Use resources/read instead';
  const sepCode = SEP_CODES[reason];
  return hasExtensionCodes
    ? { code: sepCode, message: text, data }
    : { code: INVALID_PARAMS, message: text, data: { ...data, sepCode } };
}

/** Recognises how older and newer servers, including the official SDKs, report a missing resource. */
function readError({ code, message, data }: RpcError): StreamRefusal['reason'] | undefined {
  const said = isObject(data) ? data.reason : undefined;
  for (const [reason, sepCode] of Object.entries(SEP_CODES)) {
    if (said === reason || code === sepCode) return reason as StreamRefusal['reason'];
  }
  const isAboutIt = isObject(data) && typeof data.uri === 'string' && said === undefined;
  const isUnknown = code === INVALID_PARAMS && (isAboutIt || /not found|unknown resource/i.test(message));
  return isUnknown ? 'resourceNotFound' : undefined;
}

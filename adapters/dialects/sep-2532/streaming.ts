import { GatewayError } from '../../../gateway/errors.js';
import type { ClientFacts, RpcError } from '../../../gateway/ports/client.js';
import type { JsonObject } from '../../../gateway/ports/dialect.js';
import type { ResourceStreaming, StreamRefusal } from '../../../gateway/ports/resource-streaming.js';
import { isObject } from '../common/json.js';
import { isDeclared, takenBy } from './capability.js';

/** From this version on the SEP's codes are not to be sent: -32000…-32019 mean nothing any more. */
const CORE_CODES_SINCE = '2026-07-28';

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
  const isCore = client.protocolVersion >= CORE_CODES_SINCE;
  if (reason === 'undeclared') {
    return isCore
      ? { code: MISSING_CAPABILITY, message: text, data: { requiredCapabilities: { resourceStreaming: {} } } }
      : { code: UNKNOWN_METHOD, message: 'Method not found' };
  }
  const data: JsonObject = { reason };
  if (uri !== undefined) data.uri = uri;
  if (size !== undefined) data.size = size;
  if (maxSize !== undefined) data.maxStreamSize = maxSize;
  if (reason === 'streamNotSupported') data.suggestion = 'Use resources/read instead';
  const sepCode = SEP_CODES[reason];
  return isCore
    ? { code: INVALID_PARAMS, message: text, data: { ...data, sepCode } }
    : { code: sepCode, message: text, data };
}

/** What older and newer servers, the official SDKs among them, say of a resource that is not there. */
function readError({ code, message, data }: RpcError): StreamRefusal['reason'] | undefined {
  const said = isObject(data) ? data.reason : undefined;
  for (const [reason, sepCode] of Object.entries(SEP_CODES)) {
    if (said === reason || code === sepCode) return reason as StreamRefusal['reason'];
  }
  const isAboutIt = isObject(data) && typeof data.uri === 'string' && said === undefined;
  const isUnknown = code === INVALID_PARAMS && (isAboutIt || /not found|unknown resource/i.test(message));
  return isUnknown ? 'resourceNotFound' : undefined;
}

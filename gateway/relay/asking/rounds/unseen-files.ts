import { isObject } from '../../../json/value.js';
import type { ClientMessages } from '../../../mcp/request.js';
import type { JsonValue } from '../../../ports/json.js';
import { isOwnKey, paramsInvalid } from './round.js';

/** A file as the fields of forms hold it (SEP-2356), also as lenient readers take it. */
const FILE = /^\s*data:[^\s,]*,/i;

/**
 * Where Wharf must see the files in answers, it asks for each by a question of its own. An answer to any other question may hold
 * none: a client can give one to a server that Wharf has not seen asking, and no rule would be asked about its file.
 * @throws GatewayError `params_invalid`
 */
export function refuseUnseenFiles({ requests }: ClientMessages): void {
  for (const { params } of requests) {
    const { inputResponses } = params;
    if (!isObject(inputResponses)) continue;
    for (const [key, answer] of Object.entries(inputResponses)) {
      const content = isObject(answer) ? answer.content : undefined;
      if (isOwnKey(key) || !isObject(content)) continue;
      if (Object.values(content).flat().some(isFile))
        throw paramsInvalid(
          'inputResponses have a file that Wharf has not asked for, and its rules about files (flow, limits, antivirus, ' +
            'audit) would not be kept',
        );
    }
  }
}

function isFile(value: JsonValue): boolean {
  return typeof value === 'string' && FILE.test(value);
}

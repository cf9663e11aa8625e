import type { Readable } from 'node:stream';
import { GatewayError } from '../errors.js';
import { isObject } from '../json/value.js';
import type { Limits } from '../policy/limits.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import type { BodyKind } from '../ports/upstream.js';
import { addAll } from '../wire/add-all.js';
import { WireError } from '../wire/errors.js';
import { parseJson } from '../wire/json/parse.js';
import { createReader } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';

const NOTHING = compileWatchTree({});

/** Every JSON-RPC message of a body, until it ends or the caller stops. */
export async function* messagesIn(
  body: Readable,
  kind: Extract<BodyKind, 'json' | 'sse' | 'lines'>,
  limits: Readonly<Limits>,
): AsyncGenerator<JsonObject> {
  let found: JsonObject[] = [];
  const reader = createReader(kind, {
    tree: NOTHING,
    maxHeld: limits.response,
    maxDepth: limits.depth,
    handler: {
      message: (message) => {
        if (message.empty || message.malformed) return;
        const value = parseJson(message.skeleton().toString('utf8')) as JsonValue;
        addAll(found, (Array.isArray(value) ? value : [value]).filter(isObject));
        message.discard();
      },
    },
  });
  try {
    for await (const chunk of body) {
      reader.feed(chunk as Buffer);
      const complete = found;
      found = [];
      yield* complete;
    }
    reader.end();
    yield* found;
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    if (error.code === 'held') {
      throw new GatewayError('response_too_large', {
        limit: 'limits.response',
        allowed: limits.response,
        actual: error.offset,
      });
    }
    throw new GatewayError('upstream_invalid', { reason: error.message });
  }
}

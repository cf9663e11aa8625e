import { isObject } from '../../../gateway/json/value.js';
import type { JsonObject, SlotPlace, SlotReading } from '../../../gateway/ports/dialect.js';
import type { FileClaims } from '../../../gateway/ports/file.js';

const NOT_MINE: SlotReading = { kind: 'not-mine' };

/** Decides by the block's own `type` whether its string is a file. A block of an unknown type passes unchanged. */
export function read(place: SlotPlace, holder: JsonObject): SlotReading {
  if (place.kind === 'resource') return mine(resourceClaims(holder));
  const { type } = holder;
  if (place.encoding === 'dataUri') return type === 'text' ? mine({}) : NOT_MINE;
  if (place.path.endsWith('.resource.blob')) {
    return type === 'resource' && isObject(holder.resource) ? mine(resourceClaims(holder.resource)) : NOT_MINE;
  }
  if (type !== 'image' && type !== 'audio') return NOT_MINE;
  return { kind: 'mine', claims: typeClaim(holder), inlineLimit: type === 'image' ? 'image' : 'other' };
}

function mine(claims: FileClaims): SlotReading {
  return { kind: 'mine', claims, inlineLimit: 'other' };
}

function typeClaim(holder: JsonObject): FileClaims {
  return typeof holder.mimeType === 'string' ? { mimeType: holder.mimeType } : {};
}

function resourceClaims(resource: JsonObject): FileClaims {
  const claims = typeClaim(resource);
  if (typeof resource.uri === 'string') claims.uri = resource.uri;
  if (typeof resource.name === 'string') claims.name = resource.name;
  return claims;
}

import { isObject } from '../../../gateway/json/value.js';
import type { JsonObject, SlotPlace, SlotReading } from '../../../gateway/ports/dialect.js';
import type { FileClaims } from '../../../gateway/ports/file.js';

/** Decides by the block's own `type` whether its string is a file. A block of an unknown type passes unchanged. */
export function read(place: SlotPlace, holder: JsonObject): SlotReading | undefined {
  if (place.kind === 'resource') return file(resourceClaims(holder));
  const { type } = holder;
  if (place.path.endsWith('.uri')) return type === 'resource_link' ? file(nameClaim(holder)) : undefined;
  if (place.encoding === 'dataUri') return type === 'text' ? file({}) : undefined;
  if (place.path.endsWith('.resource.blob')) {
    return type === 'resource' && isObject(holder.resource) ? file(resourceClaims(holder.resource)) : undefined;
  }
  if (type !== 'image' && type !== 'audio') return undefined;
  return { claims: typeClaim(holder), inlineLimit: type === 'image' ? 'image' : 'other' };
}

function file(claims: FileClaims): SlotReading {
  return { claims, inlineLimit: 'other' };
}

function typeClaim(holder: JsonObject): FileClaims {
  return typeof holder.mimeType === 'string' ? { mimeType: holder.mimeType } : {};
}

/** Its address is the file itself, and has the type. */
function nameClaim({ name }: JsonObject): FileClaims {
  return typeof name === 'string' ? { name } : {};
}

function resourceClaims(resource: JsonObject): FileClaims {
  const claims = typeClaim(resource);
  if (typeof resource.uri === 'string') claims.uri = resource.uri;
  if (typeof resource.name === 'string') claims.name = resource.name;
  return claims;
}

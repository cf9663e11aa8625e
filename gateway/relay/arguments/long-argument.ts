import type { GatewayError } from '../../errors.js';
import { argumentTooLarge } from '../../mcp/body-meter.js';
import type { TooLongArgument } from '../../mcp/shortened-body.js';
import { spell } from '../../schema/argument-path.js';
import { calledName, type PendingRequest } from '../pending-request.js';
import { valuesIn } from '../tools/file-slots.js';
import { calledAs } from '../tools/lifted-arguments.js';
import { argumentsOf } from './heavy-arguments.js';
import { lifts, ownerOf, type PostContext, rulesOf, toolNamed } from './post.js';
import { tooLargeInside } from './refused-file.js';

/** The error for an argument that was too long for a call: a refused file if the tool takes one there. */
export async function refusalOfLong(
  request: PendingRequest,
  name: string,
  { path, size }: TooLongArgument,
  context: PostContext,
): Promise<GatewayError> {
  const { limits } = context.deps;
  const { slots = [], paramHeaders = [] } = (await toolNamed(name, context)) ?? {};
  const args = (await argumentsOf(request, slots, paramHeaders, { owner: ownerOf(context), limits })) ?? {};
  for (const slot of slots) {
    for (const use of valuesIn(args, slot)) {
      const argument = calledAs(slot, use.path, lifts(context));
      // an object copied whole from a result has its bytes below itself
      const isMeant = use.path.every((key, index) => key === path[index]) || argument === spell(path);
      if (!isMeant) continue;
      return tooLargeInside(rulesOf(slot, { tool: calledName(request) ?? name, argument }, context), size);
    }
  }
  return argumentTooLarge(path, limits.inlineArgument, size);
}

import type { GatewayError } from '../../errors.js';
import { argumentTooLarge } from '../../mcp/body-meter.js';
import type { TooLongArgument } from '../../mcp/shortened-body.js';
import { spell } from '../../schema/argument-path.js';
import type { PendingRequest } from '../pending-request.js';
import type { ToolFacts } from '../tools/catalog.js';
import { valuesIn } from '../tools/file-slots.js';
import { calledAs } from '../tools/lifted-arguments.js';
import { maxSizeOf } from '../tools/max-size.js';
import type { DeliveryDeps } from './deliveries.js';
import { argumentsOf } from './heavy-arguments.js';
import { tooLargeInside } from './incoming-files.js';

/** What tells where a tool takes files. */
export interface LongArgumentDeps extends Pick<DeliveryDeps, 'limits' | 'accepts' | 'owner'> {
  /** The client calls nested arguments by other names. */
  lifts: boolean;
  tool: (name: string) => Promise<ToolFacts | undefined>;
}

/** An argument that was longer than may stand in a call: a refused file where the tool takes one there. */
export async function refusalOfLong(
  request: PendingRequest,
  name: string,
  { path, size }: TooLongArgument,
  deps: LongArgumentDeps,
): Promise<GatewayError> {
  const { limits, lifts } = deps;
  const { slots = [], paramHeaders = [] } = (await deps.tool(name)) ?? {};
  const args = (await argumentsOf(request, slots, paramHeaders, limits)) ?? {};
  for (const slot of slots) {
    for (const use of valuesIn(args, slot)) {
      const argument = calledAs(slot, use.path, lifts);
      // an object copied whole from a result has its bytes below itself
      const isMeant = use.path.every((key, index) => key === path[index]) || argument === spell(path);
      if (!isMeant) continue;
      const maxSize = maxSizeOf(slot, deps);
      return tooLargeInside({ slot, tool: name, argument, maxSize, maxInline: limits.inlineArgument }, size);
    }
  }
  return argumentTooLarge(path, limits.inlineArgument, size);
}

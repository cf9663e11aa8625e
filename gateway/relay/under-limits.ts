import { GatewayError } from '../errors.js';
import { type ExchangeLimits, MESSAGE_LIMITS } from '../policy/message-limits.js';
import type { CommonDeps } from './common-deps.js';

/** For a call of tools that lower its limits. */
export function underLimits<Deps extends Pick<CommonDeps, 'limits' | 'cut'>>(deps: Deps, limits: ExchangeLimits): Deps {
  return { ...deps, limits, cut: { ...deps.cut, limits } };
}

/** An error with the place in the config that sets its limit, where that is a tool's; any other as it was thrown. */
export function withSource(thrown: unknown, limits: ExchangeLimits): unknown {
  if (!limits.sources || !(thrown instanceof GatewayError) || thrown.facts.source !== undefined) return thrown;
  const { limit, allowed } = thrown.facts;
  const name = MESSAGE_LIMITS.find((one) => `limits.${one}` === limit);
  const source = name && limits.sources[name];
  // a limit of that name may also be another side's, which is then lower
  const isOfTool = source !== undefined && (allowed === undefined || allowed === limits[name as keyof typeof limits]);
  return isOfTool ? new GatewayError(thrown.code, { ...thrown.facts, source }, thrown.cause) : thrown;
}

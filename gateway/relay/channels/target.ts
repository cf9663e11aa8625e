import type { Exchange, ExchangeFacts } from '../exchange.js';
import type { GetStream } from './get-stream.js';
import type { PostStream } from './post-stream.js';

/** What a message needs to be delivered. */
export interface Target {
  stream: PostStream | GetStream;
  facts: ExchangeFacts;
  exchange: Exchange;
}

export function asTarget(stream: PostStream | GetStream | undefined): Target | undefined {
  return stream && { stream, facts: stream.exchange.facts, exchange: stream.exchange };
}

import type { HeldMessage } from '../wire/json/reader.js';
import type { Exchange, ExchangeFacts } from './exchange.js';
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

/** A frame of legacy SSE that carries none: a keep-alive, or another `endpoint` event, which clients ignore as well. */
export function isNoMessage({ empty, frame }: HeldMessage): boolean {
  return empty || (frame?.event !== undefined && frame.event.toString('latin1') !== 'message');
}

import type { OutgoingMessage } from '../../../gateway/ports/upstream.js';

/** One request to a server. */
export interface HttpCall {
  method: 'POST' | 'GET' | 'DELETE';
  /** Path and query. */
  path: string;
  /** Names and values alternating. Host and Content-Length are added. */
  headers: string[];
  body?: OutgoingMessage;
  /** The principal whose share of the connections it takes. */
  principal?: string | undefined;
  /** True for a stream that the server keeps open on its own account. */
  isStream?: boolean;
}

import { IncomingMessage } from 'node:http';
import { pushJoined, type Waiting } from '../../budget/short-chunks.js';
import type { Arrival } from './arrivals.js';

/** A request that joins the short chunks of its body. */
export class JoinedRequest extends IncomingMessage {
  /** Most requests have none, and a field of its own would take memory of all. */
  declare waiting?: Waiting | undefined;
  /** While it waits to be served. */
  declare arrival?: Arrival | undefined;

  /** Node stops reading the connection where it is false, until the body is read. */
  override push(chunk: Buffer | null): boolean {
    if (chunk !== null) this.arrival?.came(chunk.length);
    return pushJoined(this, chunk, (joined) => super.push(joined)) && !this.arrival;
  }
}

import { GatewayError } from '../../errors.js';
import type { Edit } from '../../json/edits.js';
import type { ClientMessages } from '../../mcp/request.js';
import { knownId } from '../../mcp/responses.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { PendingRequest } from '../pending-request.js';
import { type Mapping, namesBack, renameRequest } from './rename-ids.js';

/** A request under the name that it has on a channel of several clients. */
export interface Renamed {
  id: string;
  mapping: Mapping;
  request: PendingRequest;
  bytes: Buffer;
}

/** What the requests of several clients are called on a channel that they share. */
export class ChannelNames {
  readonly #mappings = new Map<string, Mapping>();
  #nextId = 1;

  /** Nothing is kept of it before `keep`: it may still turn out that it cannot be sent. @throws GatewayError `request_invalid` */
  async rename(messages: ClientMessages): Promise<Renamed> {
    const [request] = messages.requests;
    if (!request || messages.isBatch) throw new GatewayError('request_invalid', { reason: 'a batch needs a session' });
    const id = String(this.#nextId++);
    const { bytes, progressToken } = await renameRequest(messages.bytes, id);
    return { id, bytes, request, mapping: { id: request.id, progressToken } };
  }

  /** Until `forget`, the names in the server's messages are given back. */
  keep({ id, mapping }: Renamed): void {
    this.#mappings.set(id, mapping);
  }

  forget(id: string): void {
    this.#mappings.delete(id);
  }

  /** What its client calls a request. */
  original(id: string): string {
    return this.#mappings.get(id)?.id ?? id;
  }

  back(message: HeldMessage): Edit[] {
    return namesBack(message, (id) => this.#mappings.get(knownId(this.#mappings, id)));
  }
}

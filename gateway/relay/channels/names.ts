import { PassingMap } from '../../budget/collections/passing-map.js';
import { GatewayError } from '../../errors.js';
import type { Edits } from '../../json/edit.js';
import type { ClientMessages } from '../../mcp/request.js';
import { knownId } from '../../mcp/responses.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { answerBack, type Mapping, namesBack } from './rename-ids.js';

/** A request with its name on a channel of several clients. */
export interface Renamed {
  id: string;
  mapping: Mapping;
}

/** Names for the requests of several clients on a shared channel. */
export class ChannelNames {
  readonly #mappings = new PassingMap<Mapping>();
  #nextId = 1;

  /** A name for the only request of a POST. @throws GatewayError `request_invalid` */
  next(messages: ClientMessages): number {
    if (messages.requests.length === 0 || messages.isBatch) throw this.noBatch();
    return this.#nextId++;
  }

  noBatch(): GatewayError {
    return new GatewayError('request_invalid', { reason: 'a batch needs a session' });
  }

  /** Until `forget`, the original names are restored in the server's messages. */
  keep({ id, mapping }: Renamed): void {
    this.#mappings.set(id, mapping);
  }

  forget(id: string): void {
    this.#mappings.delete(id);
  }

  /** The client's own name of a request. */
  original(id: string): string {
    return this.#mappings.get(id)?.id ?? id;
  }

  /** A short answer under its client's own id; undefined where it must be read for that. As `answerBack`. */
  answerBack(line: Buffer, id: string): Buffer[] | undefined {
    const mapping = this.#mappings.get(id);
    return mapping && answerBack(line, id, mapping.id);
  }

  back(message: HeldMessage, edits: Edits): number {
    return namesBack(message, edits, (id) => this.#mappings.get(knownId(this.#mappings, id)));
  }
}

import type { ClientFacts } from '../../ports/client.js';
import type { Dialect } from '../../ports/dialect.js';

/** The properties of a client that decide how it sees tools, and how it calls them. */
export interface Reader {
  readonly client: ClientFacts;
  /** It looks for files only among a tool's top-level arguments. */
  readonly lifts: boolean;
  /** Dialects in which it writes files as servers take them, so that nothing needs translation. */
  readonly passes: ReadonlySet<string>;
  /** Tools are shown to it without their outputSchema. */
  readonly hidesOutput: boolean;
  /** It declares nothing, and nothing else is known about it. */
  readonly isPlain: boolean;
}

/** An exchange has one object of facts about its client. */
const KNOWN = new WeakMap<readonly Dialect[], WeakMap<ClientFacts, Reader>>();

/** A client's properties for the dialects, determined once per exchange. */
export function readerOf(client: ClientFacts, dialects: readonly Dialect[]): Reader {
  let known = KNOWN.get(dialects);
  if (!known) {
    known = new WeakMap();
    KNOWN.set(dialects, known);
  }
  let reader = known.get(client);
  if (!reader) {
    reader = newReader(client, dialects);
    known.set(client, reader);
  }
  return reader;
}

function newReader(client: ClientFacts, dialects: readonly Dialect[]): Reader {
  return {
    client,
    lifts: dialects.some((dialect) => dialect.liftsArguments?.(client) ?? false),
    hidesOutput: hidesOutput(client),
    passes: new Set(dialects.filter((dialect) => dialect.passes?.(client)).map(({ name }) => name)),
    isPlain:
      Object.keys(client.capabilities).length === 0 &&
      !client.dialects?.length &&
      !hidesOutput(client) &&
      client.host?.fileArguments !== 'plain',
  };
}

/** Its host shows the content of a result only without structuredContent, which such a schema requires. */
function hidesOutput({ host }: ClientFacts): boolean {
  return host?.structured === 'drop';
}

/** A client of the same version that declares nothing. */
export function plainReader({ client: { protocolVersion } }: Reader, dialects: readonly Dialect[]): Reader {
  return newReader({ protocolVersion, capabilities: {} }, dialects);
}

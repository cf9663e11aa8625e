/** What the config, its reports and `wharf inspect` need to know about a transport; its adapter speaks it. */
interface TransportFacts {
  /** Its name for people. */
  title: string;
  /** What shows that a server is meant to be reached by it: its `command`, or the word `transport`. */
  chosenBy: 'command' | 'transport';
  /** The largest request that an SDK server survives: past it, it answers 413 over HTTP and exits over stdio. */
  accepts: '4MiB' | '10MiB';
  /** What desktop hosts write in their files as the `type` of such a server, beside its `url`. */
  hostTypes: readonly string[];
}

/** The one list of transports. A new one needs a row here, an adapter, and its line in `adapters/index.ts`. */
export const TRANSPORTS = {
  'streamable-http': {
    title: 'Streamable HTTP',
    chosenBy: 'transport',
    accepts: '4MiB',
    hostTypes: ['http', 'streamable-http', 'streamableHttp'],
  },
  'legacy-sse': { title: 'HTTP+SSE', chosenBy: 'transport', accepts: '4MiB', hostTypes: ['sse'] },
  stdio: { title: 'stdio', chosenBy: 'command', accepts: '10MiB', hostTypes: [] },
} as const satisfies Readonly<Record<string, TransportFacts>>;

export type TransportName = keyof typeof TRANSPORTS;

/**
 * How a server is reached. `probed` means: try Streamable HTTP first, then HTTP+SSE. The settings of the two are the
 * same.
 */
export type ServerTransport = TransportName | 'probed';

/** The transports in the order of their list. */
export const TRANSPORT_NAMES = Object.keys(TRANSPORTS) as readonly TransportName[];

/** The facts about a transport. */
export function transportFacts(name: TransportName): TransportFacts {
  return TRANSPORTS[name];
}

/** True for a word that `transport` may be. */
export function isTransportWord(word: unknown): word is TransportName {
  return TRANSPORT_NAMES.some((name) => name === word && transportFacts(name).chosenBy === 'transport');
}

/** The transports to try on a server, in this order. */
export function transportsToTry(transport: ServerTransport): readonly TransportName[] {
  return transport === 'probed' ? ['streamable-http', 'legacy-sse'] : [transport];
}

import { expect } from '@jest/globals';
import { PIXEL } from '../../helpers/pixel.js';
import { type About, RawClient, type RawMessage } from '../../helpers/raw-client.js';
import { type RecordingOptions, RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

export type Json = Record<string, unknown>;

export const F1 = Buffer.from('Hello world!');
export const F2 = PIXEL;
export const F4 = Buffer.from([0, 1, 2, 253, 254, 255]);

/** A client of a version, which has initialized where its version does. */
export async function connect(url: string, version = '2025-06-18', about: About = {}): Promise<RawClient> {
  return version >= '2026' ? RawClient.stateless(url, version, about) : RawClient.connect(url, version, about);
}

/** A gateway before one server that records what it gets, and a client. */
export interface Lab {
  upstream: RecordingUpstream;
  wharf: Wharf;
  client: RawClient;
  /** The arguments that the server gets for these; fails where the call did not reach it. */
  sent: (name: string, args: Json) => Promise<Json>;
  /** Why Wharf refused a call, which the server must not see. */
  refused: (name: string, args: Json) => Promise<Json | undefined>;
  stop: () => Promise<void>;
}

interface LabOptions extends Pick<RecordingOptions, 'methods'> {
  /** Of the server in the config. */
  name?: string;
  /** The rest of its entry, beside its address. */
  server?: Json;
  config?: Json;
  /** Of the client. */
  version?: string;
  about?: About;
  /** Where it connects, if the gateway's own address is not the way to it. */
  at?: string;
}

export async function lab(tools: Json[], options: LabOptions = {}): Promise<Lab> {
  const { methods, name: called = 'files', server = {}, config = {}, version, about, at } = options;
  const upstream = await RecordingUpstream.start({ tools, ...(methods && { methods }) });
  const wharf = await startWharf({
    servers: { [called]: { url: upstream.url, transport: 'streamable-http', ...server } },
    config,
  });
  const client = await connect(at ?? wharf.mcp, version, about);
  const calls = () => upstream.with('tools/call').length;
  return {
    upstream,
    wharf,
    client,
    sent: async (name, args) => {
      const before = calls();
      const answer = await client.call(name, args);
      if (calls() !== before + 1) throw new Error(`the server saw no call: ${answer.answer.text.slice(0, 500)}`);
      return upstream.lastArguments;
    },
    refused: async (name, args) => {
      const before = calls();
      const answer = await client.call(name, args);
      if (calls() !== before) throw new Error('the server saw the call');
      return factsOf(answer);
    },
    stop: async () => {
      await wharf.stop();
      await upstream.stop();
    },
  };
}

/** What a tool error says for programs. */
export function factsOf({ result }: RawMessage): Json | undefined {
  return (result?._meta as Record<string, Json> | undefined)?.['dev.wharf/fileError'];
}

/** One call in a row of a table, and what has to come of it. */
type Call = (lab: Lab) => Promise<void>;

/** A sentence, and the calls that show it. */
export type Row = [sentence: string, ...calls: Call[]];

export async function inTurn(calls: Call[], lab: Lab): Promise<void> {
  for (const call of calls) await call(lab);
}

/** The server gets these arguments, or the very ones that the client sent. */
export function sends(name: string, args: Json, got = args): Call {
  return async (lab) => expect(await lab.sent(name, args)).toEqual(got);
}

/** The call is refused with these facts, and the server does not see it. */
export function refuses(name: string, args: Json, facts: unknown): Call {
  return async (lab) => expect(await lab.refused(name, args)).toEqual(facts);
}

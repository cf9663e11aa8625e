import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { convertLegacyHttpOptions } from '@opentelemetry/otlp-exporter-base/node-http';
import type { Signal } from './environment.js';

/** What OTLP's packages take to reach a collector. */
interface Reach {
  url?: string;
  headers: Record<string, string>;
  timeoutMillis?: number;
}

type MakeAgent = (protocol: string) => Promise<Agent>;

/** An answer says at most how many spans were refused, and why. It is parsed as a whole. */
const ANSWER_BYTES = 64 * 1024;

/** What node's agent does with a request, which node:http's types do not declare. */
interface Sending {
  addRequest(request: ClientRequest, ...rest: unknown[]): void;
}

/**
 * Bounds each request to a collector. OpenTelemetry's own time-out begins anew with each byte: a collector that answers one
 * byte a second keeps the request, and once thirty are kept nothing is exported until each of them has ended.
 */
export function bounded(reach: Reach, signal: Signal): Reach & { httpAgentOptions: MakeAgent } {
  const name = signal === 'traces' ? 'TRACES' : 'METRICS';
  // with what the environment says of certificates, and of the time
  const { agentFactory, timeoutMillis } = convertLegacyHttpOptions(reach, name, `v1/${signal}`, {});
  return { ...reach, httpAgentOptions: async (protocol) => watching(await agentFactory(protocol), timeoutMillis) };
}

function watching(agent: Agent, ms: number): Agent {
  const sending = agent as unknown as Sending;
  const { addRequest } = sending;
  sending.addRequest = (request, ...rest) => {
    const late = () => request.destroy(new Error(`the collector has not answered completely within ${ms} ms`));
    const timer = setTimeout(late, ms);
    request.once('close', () => clearTimeout(timer));
    request.once('response', limited);
    addRequest.call(agent, request, ...rest);
  };
  return agent;
}

function limited(answer: IncomingMessage): void {
  let left = ANSWER_BYTES;
  answer.on('data', (piece: Buffer) => {
    left -= piece.length;
    if (left < 0) answer.destroy(new Error(`the collector's answer is longer than ${ANSWER_BYTES} bytes`));
  });
}

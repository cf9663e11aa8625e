import type { RawClient, RawMessage } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf, type WharfOptions } from '../../helpers/wharf.js';
import { discover, textOf } from './lab.js';

type Json = Record<string, unknown>;

export const MODERN = '2026-07-28';
export const TOKEN = 'Bearer of-the-operator';
export const PATH = '/take/42?a=b%2Fc';

/** What reached the server's own address. */
interface Uploaded {
  method: string;
  url: string;
  authorization: string | undefined;
  body: string;
}

/** A server without sessions that wants this input before it answers, and Wharf in front of it. */
export class AskingServer {
  readonly uploads: readonly Uploaded[];
  readonly upstream: RecordingUpstream;
  readonly wharf: Wharf;

  private constructor(upstream: RecordingUpstream, wharf: Wharf, uploads: readonly Uploaded[]) {
    this.upstream = upstream;
    this.wharf = wharf;
    this.uploads = uploads;
  }

  /** @param requests its `inputRequests`, in which `$ORIGIN` is its own origin; `statuses` of its answers to uploads */
  static async start(
    requests: Json | ((origin: string) => string),
    { statuses = [200], server = {}, ...options }: Partial<WharfOptions> & { statuses?: number[]; server?: Json } = {},
  ): Promise<AskingServer> {
    const uploads: Uploaded[] = [];
    const answered = ({ requestState, inputResponses }: Json): Json => {
      if (requestState === 'of the server')
        return { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(inputResponses ?? {}) }] };
      const text =
        typeof requests === 'function'
          ? requests(upstream.origin)
          : JSON.stringify(requests).replaceAll('$ORIGIN', upstream.origin);
      const inputRequests = JSON.parse(text) as Json;
      return { resultType: 'input_required', inputRequests, requestState: 'of the server', extra: 1 };
    };
    const upstream: RecordingUpstream = await RecordingUpstream.start({
      tools: [{ name: 'ask', inputSchema: { type: 'object' } }],
      methods: {
        'server/discover': () => ({ ...discover(), capabilities: { tools: {}, prompts: {}, resources: {} } }),
        'files/authorizeUpload': ({ name, mimeType, size, digest }) => ({
          resultType: 'complete',
          file: { uri: 'mcp-file://asking/1', name, mimeType, size, digest },
          upload: { transport: 'http', method: 'PUT', url: `${upstream.origin}${PATH}` },
        }),
        'tools/call': answered,
        'prompts/get': answered,
        'resources/read': answered,
      },
      http: ({ method = '', url = '', headers }, body) => {
        const status = statuses[Math.min(uploads.length, statuses.length - 1)] ?? 200;
        uploads.push({ method, url, authorization: headers.authorization, body: body.toString('latin1') });
        return { status };
      },
    });
    const docs = {
      url: upstream.url,
      transport: 'streamable-http',
      headers: { authorization: TOKEN },
      ...server,
    };
    const wharf = await startWharf({ servers: { docs }, ...options });
    return new AskingServer(upstream, wharf, uploads);
  }

  async stop(): Promise<void> {
    await this.wharf.stop();
    await this.upstream.stop();
  }
}

/** A result that wants input. */
interface Wanted {
  requestState: string;
  inputRequests?: Record<string, { method: string; params: Json }>;
}

export function wanted({ result }: RawMessage): Wanted {
  if (result?.resultType !== 'input_required') throw new Error(`it is complete: ${JSON.stringify(result)}`);
  return result as unknown as Wanted;
}

export const call = (client: RawClient, more: Json = {}) =>
  client.request('tools/call', { name: 'ask', arguments: {}, ...more });

/** What the server was answered, by the keys of its questions. */
export const heard = ({ result }: RawMessage) =>
  JSON.parse(textOf(result)) as Record<string, { action: string; content?: Json }>;

import type { Upstream } from '../../../gateway/ports/upstream.js';
import { type FakeUpstream, type FakeUpstreamOptions, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { startTakingServer, type TakingOptions, type TakingServer } from '../../helpers/taking-server.js';
import type { UpstreamSubject } from '../upstream.contract.js';
import type { SendingSubject } from '../upstream-sending.contract.js';
import type { Overrides } from './subject.js';

/** Makes the adapter in front of a server. */
type MakeUpstream = (url: string, overrides: Overrides) => Upstream;

/** An adapter in front of HTTP servers of the test helpers. @param die makes one break off within its answer */
export function httpSubject(
  options: FakeUpstreamOptions,
  make: MakeUpstream,
  die: (fake: FakeUpstream) => void,
): UpstreamSubject {
  const fakes: FakeUpstream[] = [];
  const start = async (overrides: Overrides = {}) => {
    const fake = await startFakeUpstream(options);
    fakes.push(fake);
    return { fake, upstream: make(fake.url, overrides) };
  };
  return {
    healthy: async (overrides) => (await start(overrides)).upstream,
    unreachable: async () => {
      const { fake, upstream } = await start();
      await fake.close();
      return upstream;
    },
    dying: async () => {
      const { fake, upstream } = await start();
      die(fake);
      return upstream;
    },
    limitOfOne: { limits: { connections: 1 }, timeouts: { queue: 50 } },
    limitError: 'connection_limit',
    leftovers: () => fakes.reduce((sum, fake) => sum + fake.openConnections, 0),
    clean: async () => {
      for (const fake of fakes.splice(0)) await fake.close();
    },
  };
}

/** An adapter in front of HTTP servers that take requests at a pace of their own. */
export function httpSending(transport: TakingOptions['transport'], make: MakeUpstream): SendingSubject {
  const servers: TakingServer[] = [];
  return {
    taking: async (pace, overrides = {}) => {
      const server = await startTakingServer({ transport, pace });
      servers.push(server);
      return { upstream: make(server.url, overrides), taken: () => server.taken };
    },
    stall: 'idle',
    clean: async () => {
      for (const server of servers.splice(0)) await server.close();
    },
  };
}

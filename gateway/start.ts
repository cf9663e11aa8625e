import type { Readable, Writable } from 'node:stream';
import type { AdapterList } from './config/adapter-list.js';
import type { Config } from './config/config.js';
import { GatewayError } from './errors.js';
import { startSweeper } from './files/retention/sweep.js';
import { Closers } from './parts/closers.js';
import { openFaces } from './parts/faces.js';
import { openFiling } from './parts/filing.js';
import { openProcess } from './parts/process.js';
import { openServing } from './parts/serving.js';
import type { Log } from './ports/log.js';
import type { Reload } from './reload/present-config.js';
import type { StdioFace } from './stdio/face.js';
import { faceOver } from './stdio/over-streams.js';

/** How often the drain checks for running exchanges. */
const DRAIN_POLL_MS = 50;

/** How long a balancer may still send requests on the connections that it keeps. */
const LAST_REQUESTS_MS = 500;

/** How long removals may still take after everything else has ended. */
const LAST_CLEAN_UPS_MS = 1000;

/** A running gateway. */
interface Gateway {
  urls: { name: string; mcp: string }[];
  /** Empty when there is no admin port, or only a stdio client is served. */
  adminUrl: string;
  /** The stdio face, if there is one; it waits for `run`. */
  stdio: StdioFace | undefined;
  /** Puts another config in the place of the present one, as a whole or not at all. */
  reload(config: Config): Promise<Reload>;
  /** Notes that what the config's file says now does not count. */
  noteRefusedConfig(why: string): void;
  /** Refuses new exchanges, lets running ones finish up to `timeouts.drain`, then ends everything that was started. */
  drain(): Promise<void>;
}

interface StartOptions {
  /**
   * A client that speaks MCP over these streams with the first server. Then the only port is for links, not for MCP.
   */
  stdio?: { input: Readable; output: Writable };
  /** Wharf's version, for the console. */
  version?: string;
}

/**
 * Puts the parts together, each over those before it: the stores, what is done with files, the servers, the ports. When
 * it throws, nothing is listening.
 */
export async function start(
  config: Config,
  adapters: AdapterList,
  log: Log,
  { stdio, version }: StartOptions = {},
): Promise<Gateway> {
  const closers = new Closers(log);
  try {
    const shared = await openProcess(config, adapters, log, closers);
    const { clock, timeouts } = shared;
    const filing = openFiling(shared, async (lazy, signal) => {
      const server = servers.get(lazy.server);
      if (!server) throw new GatewayError('server_unknown', { server: lazy.server });
      return server.readLazy(lazy, signal);
    });
    const serving = await openServing(shared, filing);
    const { servers, present } = serving;
    const faces = await openFaces(shared, filing, serving, { hasMcp: stdio === undefined, version });
    // not before: a second start of the same Wharf fails at its port, and shares nothing
    shared.warnOfOther();
    filing.expiry.start();
    closers.add(() => filing.expiry.stop());
    const sweeper = startSweeper(shared);
    closers.add(() => sweeper.stop());

    const names = [...servers.keys()];
    const paths = names.length === 1 ? ['/mcp'] : names.map((name) => `/${name}/mcp`);
    return {
      urls: names.map((name, index) => ({ name, mcp: `${shared.publicBase()}${paths[index]}` })),
      adminUrl: faces.adminUrl,
      reload: async (next) => {
        const done = await present.replace(next);
        if (done.kind === 'done') void faces.endStrangers();
        return done;
      },
      noteRefusedConfig: (why) => present.refuse(why),
      stdio: stdio && faceOver(servers, stdio, { ...shared }),
      drain: async () => {
        // A balancer finds another replica when this one takes no connection. Without another, a client that a server has
        // asked must still be able to answer.
        const isAlone = config.state.use === 'memory';
        // what a balancer has sent on the connections that it keeps, it does not send again to another one
        if (!isAlone) await faces.serveAll();
        shared.draining.now = true;
        if (!isAlone) {
          faces.refuseConnections();
          serving.sessions.owed.start(timeouts.drain);
        }
        filing.resumable?.stop();
        const begun = clock.ticks();
        const until = begun + timeouts.drain;
        // busy ones end with their next answer; on one that is closed a request would be lost that is on its way
        const waitsForLast = () =>
          !isAlone && faces.hasConnections() && clock.ticks() < begun + Math.min(LAST_REQUESTS_MS, timeouts.drain);
        for (;;) {
          faces.open.streams.endIdle();
          // on a connection whose answer began before the drain, a balancer may have sent another request meanwhile
          if (faces.open.count === 0 && !isAlone) await faces.serveAll();
          if ((faces.open.count === 0 && !waitsForLast()) || clock.ticks() >= until) break;
          await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
        }
        // what comes later would be cut off in its midst
        shared.draining.isOver = true;
        await serving.sessions.owed.stop();
        faces.close();
        if (faces.open.count > 0) {
          log.warn({ running: faces.open.count, limit: 'timeouts.drain' }, 'Exchanges that still run are cut off.');
          // before their servers end, which would get the blame
          await faces.cutOff();
        }
        // removals need the store for a little longer
        await filing.cleanUps.settled(Math.max(LAST_CLEAN_UPS_MS, until - clock.ticks()));
        await closers.close();
      },
    };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

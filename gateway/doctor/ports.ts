import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../config/config.js';
import { formatAddress } from '../config/schema/fields.js';
import { beginningOf } from './beginning.js';
import type { Check, Finding } from './check.js';
import { DOCTOR, type Place } from './place.js';
import type { Open } from './stores.js';
import { CHECK_PATH } from './way-check.js';

type Address = Config['listen'];

/** Characters of an answer that are looked at. */
const MOST_READ = 10_000;

/** What a Wharf says of a path that it does not have, or to a Host that it does not know. */
const OWN_WORDS = /"(?:route_unknown|host_forbidden)"/;

/** Whether a gateway can listen where the config says, or does so already. */
export function portChecks(config: Pick<Config, 'listen' | 'adminListen' | 'sources'>, open: Open<Place>): Check[] {
  const { listen, adminListen, sources } = config;
  const check = (key: string, run: Check['run']): Check => ({
    ...{ group: 'machine', title: key, run },
    todo: `Set ${key} to an address of this machine and a port that this user may listen on (1024 or more).`,
    // one that was not chosen is often not needed: a stdio face has another, and a gateway is given one by an option
    isMinor: !sources.has(key),
  });
  return [
    // the place of the other checks is that port, which a process can have once
    check('listen', async (signal) => ((await open()).isOwn ? free(listen) : holderOf('listen', listen, signal))),
    ...(adminListen === undefined
      ? []
      : [
          check('adminListen', async (signal) =>
            (await isFree(adminListen)) ? free(adminListen) : holderOf('adminListen', adminListen, signal),
          ),
        ]),
  ];
}

function free(address: Address): Finding {
  return { state: 'ok', text: address.port === 0 ? 'any free port' : `${formatAddress(address)} is free` };
}

async function isFree({ host, port }: Address): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  } finally {
    server.close();
  }
}

/** Who listens there already: a Wharf, as one hopes, or what keeps it from starting. */
async function holderOf(key: string, address: Address, signal: AbortSignal): Promise<Finding> {
  const where = formatAddress(address);
  // what stands for every address of the machine cannot be asked
  const asked = formatAddress({ ...address, host: ONE_OF_ALL.get(address.host) ?? address.host });
  const other: Finding = {
    state: 'failed',
    text: `${where} is in use by another program, and Wharf cannot start`,
    todo: `End that program, or set ${key} to another port.`,
  };
  try {
    const answer = await fetch(`http://${asked}${CHECK_PATH}/x`, { signal, redirect: 'manual' });
    const isDoctor = answer.headers.get('server') === DOCTOR;
    const isWharf = OWN_WORDS.test(await beginningOf(answer, MOST_READ));
    return isDoctor || isWharf ? { state: 'ok', text: `a Wharf listens on ${where}` } : other;
  } catch (error) {
    if (signal.aborted) throw error;
    return other;
  }
}

const ONE_OF_ALL: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

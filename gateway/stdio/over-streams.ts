import type { Readable, Writable } from 'node:stream';
import { ANONYMOUS } from '../identity/identities.js';
import type { Server } from '../relay/server.js';
import type { LineDeps } from './calls.js';
import { StdioFace } from './face.js';
import { LineOutput } from './output.js';

/** The face of the first server for the one client at the other end of two streams. */
export function faceOver(
  servers: ReadonlyMap<string, Server>,
  { input, output }: { input: Readable; output: Writable },
  deps: Pick<LineDeps, 'publicBase' | 'held' | 'timeouts' | 'clock' | 'log' | 'fewLines' | 'metrics' | 'audit'>,
): StdioFace | undefined {
  const [server] = servers.values();
  return server && new StdioFace({ ...deps, server, input, output: new LineOutput(output), identity: ANONYMOUS });
}

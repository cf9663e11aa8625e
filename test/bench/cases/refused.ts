import { openSession, type Session } from '../lib/client.js';
import { attempt, passed } from '../lib/file-rounds.js';
import { callTool, UPLOADS, upload } from '../lib/file-transfer.js';
import { filesGateway } from '../lib/files-gateway.js';
import { num, type Section } from '../lib/report.js';
import type { Case } from './case.js';

/** As base64 it is longer than the 10 MiB that a stdio server on the official SDK takes. */
const BYTES = 11_000_000;
/** A server that has been sent too much may hang rather than end. */
const TIMEOUT_MS = 20_000;
/** Far more than one call of `state` is long, far less than a file. */
const MOST_READ = 4096;

interface State {
  pid: number;
  /** Bytes that the server's process has taken from its standard input. */
  read: number;
}

async function stateOf(session: Session): Promise<State> {
  const { error, start } = await callTool(session, 'state', {}, TIMEOUT_MS);
  const [, pid, read] = /\\"pid\\":(\d+),\\"read\\":(\d+)/.exec(start) ?? [];
  if (read === undefined) throw new Error(`state: ${error ?? start}`);
  return { pid: Number(pid), read: Number(read) };
}

/** A file that the server would not survive: it is refused before its first byte, and the server answers on. */
export const refused: Case = {
  ids: ['accepts'],
  async run(lab): Promise<Section> {
    const gateway = await filesGateway(lab);
    const errors: string[] = [];
    try {
      await gateway.restart();
      const session = await openSession(gateway.url('sdk'), UPLOADS);
      const handle = await upload(session, BYTES, TIMEOUT_MS);
      const before = await stateOf(session);
      const { error, start } = await callTool(session, 'take_base64', { data: handle }, TIMEOUT_MS);
      if (!/"isError":\s*true/.test(error ?? '') || !start.includes('"reason":"maxSizeExceeded"')) {
        errors.push(`not refused: ${error ?? start}`);
      }
      const after = await attempt(errors, 'the next call', () => stateOf(session));
      if (after && after.pid !== before.pid) errors.push(`the server's process was ${before.pid} and is ${after.pid}`);
      const read = (after?.read ?? Number.NaN) - before.read;
      if (read > MOST_READ) errors.push(`${read} bytes went to the server`);
      const what = `${BYTES / 1e6} MB file as base64 for an SDK server that takes 10 MiB`;
      return {
        title: 'A file that the server cannot take',
        rows: [passed('accepts', what, 'refused unsent, server lives', errors)],
        details: [`The server has read ${num(read, 0)} bytes between its answers before and after.`, ...errors],
      };
    } finally {
      await gateway.stop();
    }
  },
};

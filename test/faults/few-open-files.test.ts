import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { startGateway } from '../helpers/gateway-process.js';
import { RawClient } from '../helpers/raw-client.js';

const SCRIPT = fileURLToPath(new URL('../../../test/helpers/waiting-stdio.fixture.mjs', import.meta.url));

/** The processes of this many sessions need three descriptors each, more than `OPEN_FILES` together. */
const SESSIONS = 50;
const OPEN_FILES = 160;

describe('where the system allows few open files', () => {
  it('the processes of idle sessions leave room for other clients, and the log says what to do', async () => {
    const server = { command: [process.execPath, SCRIPT] };
    const gateway = await startGateway({ config: { servers: { one: server, other: server } }, openFiles: OPEN_FILES });
    try {
      for (let n = 0; n < SESSIONS; n += 1) await RawClient.connect(gateway.mcp(n % 2 ? 'one' : 'other'));
      const client = await RawClient.connect(gateway.mcp('one'));
      const { result } = await client.request('tools/call', { name: 'file', arguments: {} });
      expect(JSON.stringify(result)).toContain(`${gateway.url}/d/`);
      expect(gateway.logs()).toContain('"processes":2,"limits.processes":32');
      expect(gateway.logs()).toContain('Raise ulimit -n (LimitNOFILE in systemd).');
    } finally {
      await gateway.stop();
    }
  });
});

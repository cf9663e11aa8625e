import { afterEach, describe, expect, it } from '@jest/globals';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { isRunning } from '../helpers/is-running.js';
import { until } from '../helpers/wait.js';

const SECRET = 'AbCdEf0123456789_-xyz';

let gateway: Gateway | undefined;

afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

/** A gateway in which code of a test is run by SIGUSR2. */
async function faulty(code: string): Promise<Gateway> {
  const script = `process.on('SIGUSR2', () => { ${code} })`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
  gateway = await startGateway({ args: ['--upstream', 'http://127.0.0.1:9/mcp'], env });
  return gateway;
}

function told({ logs }: Gateway): Record<string, unknown> | undefined {
  const line = logs()
    .split('\n')
    .find((one) => one.includes('A fault of Wharf'));
  return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>);
}

describe('an error that no code handles', () => {
  it('of a promise is told to the operator, without what it quotes, and ends nothing', async () => {
    const wharf = await faulty(`Promise.reject(new Error('could not get /d/${SECRET}'))`);
    process.kill(wharf.pid, 'SIGUSR2');
    await until(() => told(wharf) !== undefined);
    expect(told(wharf)).toMatchObject({ level: 'error', err: { message: expect.stringContaining('could not get') } });
    expect((await fetch(`${wharf.adminUrl}/healthz`)).status).toBe(200);
    expect(wharf.logs()).not.toContain(SECRET);
    expect(await wharf.stop()).toBe(0);
  });

  it('outside of all promises is told in the same way, and ends the process', async () => {
    const wharf = await faulty(`throw new Error('could not get /d/${SECRET}')`);
    process.kill(wharf.pid, 'SIGUSR2');
    await until(() => !isRunning(wharf.pid));
    expect(told(wharf)).toMatchObject({ level: 'error', err: { message: expect.stringContaining('could not get') } });
    expect(wharf.logs()).not.toContain(SECRET);
    expect(await wharf.stop()).toBe(1);
  });
});

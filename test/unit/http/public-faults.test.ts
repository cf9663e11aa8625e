import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import type { GatewayError } from '../../../gateway/errors.js';
import { type AppDeps, createApp } from '../../../gateway/http/app.js';

it('a route of the public port that fails answers as Wharf does, and tells the log', async () => {
  const faults: GatewayError[] = [];
  const document = async () => {
    throw new RangeError('with a secret');
  };
  // only the documents are asked for
  const deps = {
    ...{ downloads: {}, uploads: {}, logins: {}, wayCheck: {}, refused: () => undefined },
    resources: { paths: ['/document'], document },
    fault: (error: GatewayError) => void faults.push(error),
  } as unknown as AppDeps;
  const server = createServer(createApp(deps)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/document`);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ error: { data: { code: 'internal' } } });
    expect(faults.map(({ code, cause }) => [code, cause instanceof RangeError])).toEqual([['internal', true]]);
  } finally {
    server.close();
  }
});

// Checks an https upstream and asks it three times: node https-client.fixture.mjs URL
import { create } from '../../dist/adapters/upstream/streamable-http.js';

const deps = {
  name: 'tls',
  limits: { connections: 4, codingRatio: 100 },
  timeouts: { queue: 1000, upstream: 5000 },
  sharing: { ratio: 1, principals: false, servers: false },
};
const upstream = create({ url: process.argv[2], headers: {} }, deps);
await upstream.check();
const answers = [];
for (let i = 0; i < 3; i++) {
  const call = { method: 'POST', headers: {}, body: Buffer.from('{}') };
  const { body } = await upstream.open(call, new AbortController().signal);
  answers.push(Buffer.concat(await body.toArray()).toString());
}
await upstream.close();
process.stdout.write(JSON.stringify(answers));

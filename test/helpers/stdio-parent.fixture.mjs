// A gateway that ends in one way while its stdio server runs: node stdio-parent.fixture.mjs exit|throw|SIGKILL COMMAND…
import { create } from '../../dist/adapters/upstream/stdio.js';

const [, , end, ...command] = process.argv;
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
const deps = {
  name: 'x',
  limits: { processes: 1 },
  timeouts: { upstream: 5000, queue: 5000 },
  sharing: { ratio: 1, principals: false, servers: false },
  log,
  inheritedEnv: {},
};
const connection = await create({ command, env: {} }, deps).connect(new AbortController().signal);
await connection.send(Buffer.from('{}'));
connection.body.once('data', (line) => {
  process.stdout.write(line, () => {
    if (end === 'exit') process.exit(1);
    if (end === 'throw') throw new Error('as a defect would');
    process.kill(process.pid, end);
  });
});

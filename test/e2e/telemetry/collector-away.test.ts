import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { OtlpCollector } from '../../helpers/otlp-collector.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

let server: RecordingUpstream;
let collector: OtlpCollector;
const before = { ...process.env };

beforeAll(async () => {
  server = await RecordingUpstream.start({});
  collector = await OtlpCollector.start();
});

afterAll(async () => {
  await server?.stop();
  await collector?.stop();
});

afterEach(() => {
  process.env = { ...before };
});

function start(telemetry: Record<string, unknown>): Promise<Wharf> {
  const config = { telemetry: { use: 'otlp', ...telemetry } };
  return startWharf({ servers: { one: { url: server.url, transport: 'streamable-http' } }, config });
}

async function calls(mcp: string, count: number): Promise<void> {
  const client = await RawClient.connect(mcp);
  for (let call = 0; call < count; call += 1) expect((await client.call('any')).result).toBeDefined();
}

describe('A collector that', () => {
  it('never answers costs no call, and the end of Wharf does not wait for its answer', async () => {
    collector.behaviour = 'hangs';
    const wharf = await start({ endpoint: collector.url, queue: 10, timeoutSeconds: 3, drainSeconds: 1 });
    await calls(wharf.mcp, 40);
    await wharf.stop();
    expect(collector.waiting).toBeGreaterThan(0);
  });

  it('cannot be reached is told of once, and once when it is back', async () => {
    process.env.OTEL_BSP_SCHEDULE_DELAY = '20';
    collector.behaviour = 'refuses';
    const wharf = await start({ endpoint: collector.url });
    const told = (text: string) => wharf.lines.filter((line) => line.text.includes(text)).length;
    await calls(wharf.mcp, 5);
    await until(() => told('the collector does not take telemetry') === 1);
    const { refused } = collector;
    await until(async () => {
      await calls(wharf.mcp, 1);
      return collector.refused > refused + 1;
    });
    collector.behaviour = 'takes';
    await until(async () => {
      await calls(wharf.mcp, 1);
      return told('the collector takes telemetry again') === 1;
    });
    expect(told('the collector does not take telemetry')).toBe(1);
    await wharf.stop();
  });
});

describe('A collector whose answer', () => {
  const told = ({ lines }: Wharf, text: string) => lines.filter((line) => line.text.includes(text));
  const away = 'the collector does not take telemetry';
  const reasonsOf = (wharf: Wharf) => told(wharf, away).map(({ fields }) => String(fields.err));

  it('comes one byte at a time is given up after `timeoutSeconds`, and keeps no connection', async () => {
    process.env.OTEL_BSP_SCHEDULE_DELAY = '20';
    process.env.OTEL_METRICS_EXPORTER = 'none';
    collector.behaviour = 'drips';
    const wharf = await start({ endpoint: collector.url, timeoutSeconds: 1 });
    await calls(wharf.mcp, 1);
    await until(() => collector.waiting > 0);
    collector.behaviour = 'takes';
    await until(() => collector.waiting === 0);
    await wharf.stop();
  });

  it('is long is not read to its end, and is told of', async () => {
    process.env.OTEL_BSP_SCHEDULE_DELAY = '20';
    process.env.OTEL_METRICS_EXPORTER = 'none';
    collector.behaviour = 'rambles';
    const wharf = await start({ endpoint: collector.url });
    await calls(wharf.mcp, 1);
    await until(() => told(wharf, away).length === 1);
    expect(reasonsOf(wharf)[0]).toContain("the collector's answer is longer than 65536 bytes");
    await wharf.stop();
  });

  it('repeats the key that it was sent does not bring the key into the log', async () => {
    process.env.OTEL_BSP_SCHEDULE_DELAY = '20';
    collector.behaviour = 'refuses';
    const wharf = await start({ endpoint: collector.url, headers: { 'x-key': 'plover-of-the-shore' } });
    await calls(wharf.mcp, 1);
    await until(() => told(wharf, away).length > 0);
    expect(reasonsOf(wharf)[0]).toContain('the collector answers with HTTP 400');
    expect(wharf.logged()).not.toContain('plover-of-the-shore');
    await wharf.stop();
  });
});

describe('What is lost although the collector answers well', () => {
  const told = ({ lines }: Wharf, text: string) => lines.filter((line) => line.text.includes(text));

  it.each(['http/json', 'http/protobuf'])(
    'is told of once where the collector refuses a part: %s',
    async (protocol) => {
      process.env.OTEL_BSP_SCHEDULE_DELAY = '20';
      process.env.OTEL_METRIC_EXPORT_INTERVAL = '40';
      collector.behaviour = 'takes a part';
      const wharf = await start({ endpoint: collector.url, protocol, headers: { 'x-key': 'plover-of-the-shore' } });
      const from = collector.refused;
      await until(async () => {
        await calls(wharf.mcp, 1);
        return told(wharf, 'refuses a part of it').length >= 2 && collector.refused > from + 5;
      });
      await wharf.stop();
      const facts = told(wharf, 'refuses a part of it').map(({ fields }) => fields);
      expect(facts).toHaveLength(2);
      expect(facts).toEqual(
        expect.arrayContaining([
          { what: 'metrics', refused: 2 },
          { what: 'traces', refused: 2 },
        ]),
      );
      expect(wharf.logged()).not.toContain('plover-of-the-shore');
    },
  );

  it('is told of once where spans come faster than it takes them', async () => {
    process.env.OTEL_BSP_SCHEDULE_DELAY = '20';
    process.env.OTEL_METRICS_EXPORTER = 'none';
    collector.behaviour = 'hangs';
    const wharf = await start({ endpoint: collector.url, queue: 1, timeoutSeconds: 1 });
    await until(async () => {
      await calls(wharf.mcp, 3);
      return collector.waiting > 0;
    });
    await calls(wharf.mcp, 3);
    collector.behaviour = 'takes';
    await until(async () => {
      await calls(wharf.mcp, 1);
      return told(wharf, 'some are dropped').length > 0;
    });
    await calls(wharf.mcp, 10);
    await wharf.stop();
    expect(told(wharf, 'some are dropped')).toEqual([
      {
        level: 'warn',
        fields: { dropped: expect.any(Number), limit: 'telemetry.queue', allowed: 1 },
        text: expect.any(String),
      },
    ]);
  });
});

describe('The standard environment variables', () => {
  it('say where the collector is, which headers it wants, what the service is called and what is recorded', async () => {
    collector.behaviour = 'takes';
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
    process.env.OTEL_EXPORTER_OTLP_HEADERS = 'x-key=from-env';
    process.env.OTEL_EXPORTER_OTLP_PROTOCOL = 'http/json';
    process.env.OTEL_EXPORTER_OTLP_COMPRESSION = 'gzip';
    process.env.OTEL_SERVICE_NAME = 'wharf-eu';
    process.env.OTEL_RESOURCE_ATTRIBUTES = 'deployment.environment.name=test';
    process.env.OTEL_METRICS_EXPORTER = 'none';
    // what comes at the end is the only one, however long the calls take
    process.env.OTEL_BSP_SCHEDULE_DELAY = '600000';
    const from = collector.requests.length;
    const wharf = await start({});
    await calls(wharf.mcp, 1);
    await wharf.stop();
    const [request, ...others] = collector.requests.slice(from);
    expect(others).toEqual([]);
    expect(request?.headers).toMatchObject({ 'x-key': 'from-env', 'content-encoding': 'gzip' });
    expect(request?.headers['content-type']).toBe('application/json');
    expect(request?.resource).toMatchObject({ 'service.name': 'wharf-eu', 'deployment.environment.name': 'test' });
  });

  it.each<[string, Record<string, string>, Record<string, unknown>]>([
    ['OTEL_SDK_DISABLED', { OTEL_SDK_DISABLED: 'true' }, {}],
    ['OTEL_TRACES_SAMPLER', { OTEL_TRACES_SAMPLER: 'always_off', OTEL_METRICS_EXPORTER: 'none' }, {}],
    [
      '`sample`, which goes before it,',
      { OTEL_TRACES_SAMPLER: 'always_on', OTEL_METRICS_EXPORTER: 'none' },
      { sample: 0 },
    ],
  ])('%s switches it off', async (_, env, telemetry) => {
    collector.behaviour = 'takes';
    Object.assign(process.env, env);
    const from = collector.requests.length;
    const wharf = await start({ endpoint: collector.url, ...telemetry });
    await calls(wharf.mcp, 2);
    await wharf.stop();
    expect(collector.requests.slice(from)).toEqual([]);
  });
});

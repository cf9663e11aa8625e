import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { BoundMetrics, CounterName, GaugeName, HistogramName } from '../ports/metrics.js';
import { Counter } from './metrics/counter.js';
import { Histogram } from './metrics/histogram.js';
import type { Labels } from './metrics/series.js';

interface CounterRow {
  help: string;
  labels: string[];
  /** Series that are there from the start, with 0: to Prometheus one that begins with its first event has not risen. */
  first?: readonly Labels[];
}

const COUNTERS: Record<CounterName, CounterRow> = {
  wharf_exchanges_total: { help: 'HTTP exchanges with MCP clients', labels: ['server', 'outcome'] },
  wharf_files_total: { help: 'Files cut out of messages and linked', labels: ['server'] },
  wharf_file_bytes_total: { help: 'Bytes of those files', labels: ['server'] },
  wharf_errors_total: {
    help: 'Errors told to a client, by code',
    labels: ['code'],
    first: [
      'internal',
      'audit_unavailable',
      'store_unavailable',
      'store_timeout',
      'store_full',
      'state_unavailable',
      'state_full',
    ].map((code) => ({ code })),
  },
  wharf_refused_requests_total: {
    help: 'Requests that belong to nothing there is: a foreign Host or Origin, an unknown path, server or link',
    labels: ['code'],
  },
  wharf_limits_total: {
    help: 'Requests that a limit or a time-out ended, and files that one kept out of a result, by its name in the config',
    labels: ['limit'],
  },
  wharf_dropped_messages_total: { help: 'Messages that were not delivered, by reason', labels: ['server', 'reason'] },
  wharf_previews_total: { help: 'Previews of images, by outcome', labels: ['outcome'] },
  wharf_downloads_total: { help: 'Requests for download links, by outcome', labels: ['outcome'] },
  wharf_uploads_total: { help: 'Tries to upload a file, by outcome', labels: ['outcome'] },
  wharf_ended_sessions_total: { help: 'Sessions at rest that were ended to make room for others', labels: ['server'] },
  wharf_questions_total: { help: 'Files that people were asked for, by what became of it', labels: ['outcome'] },
  wharf_scans_total: {
    help: 'Files given to the antivirus, by what became of them',
    labels: ['outcome'],
    first: ['clean', 'infected', 'passed', 'refused', 'failed'].map((outcome) => ({ outcome })),
  },
  wharf_kept_out_bytes_total: {
    help: 'Bytes of base64 that clients did not get, because files were cut out',
    labels: ['server'],
  },
  wharf_kept_out_tokens_total: { help: 'The same as tokens of a model, estimated: 4 bytes each', labels: ['server'] },
  wharf_upstream_errors_total: {
    help: 'Requests to a server that failed on their way, by code',
    labels: ['server', 'code'],
  },
  wharf_object_store_errors_total: {
    help: 'Steps that the object store failed, by code',
    labels: ['operation', 'code'],
  },
  wharf_state_store_errors_total: { help: 'Steps that the state store failed, by code', labels: ['operation', 'code'] },
  wharf_swept_objects_total: { help: 'Objects removed by the sweeper, by reason', labels: ['reason'] },
};

const HISTOGRAMS: Record<HistogramName, { help: string; labels: string[]; buckets: number[] }> = {
  wharf_exchange_seconds: {
    help: 'Time from the request to the last byte of its answer',
    labels: ['server'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
  },
  wharf_upstream_seconds: {
    help: 'Time from the sending of a request to a server to the end of its answer',
    labels: ['server'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
  },
  wharf_object_store_seconds: {
    help: 'Time of one step of the object store: a part written, a file begun to be read',
    labels: ['operation'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30],
  },
  wharf_state_store_seconds: {
    help: 'Time of one step of the state store, by its kind',
    labels: ['operation'],
    buckets: [0.0002, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  },
};

const GAUGES: Record<GaugeName, string> = {
  wharf_held_bytes: 'Bytes of messages held in memory',
  wharf_part_memory_bytes: 'Bytes reserved for part buffers of the object store',
  wharf_queue_length: 'Files waiting for part memory',
  wharf_held_bytes_of_one_principal: 'The most of them that are for one principal',
  wharf_held_bytes_of_one_server: 'The most of them that are for one server',
  wharf_part_memory_bytes_of_one_principal: 'The most of them that one principal has',
  wharf_part_memory_bytes_of_one_server: 'The most of them that one server has',
  wharf_requests_of_one_principal: 'The most requests that one principal has under way',
  wharf_downloads: 'Downloads that are streamed',
  wharf_catalog_bytes: 'Memory that is kept of what servers declare of their tools, and of what clients see of them',
  wharf_waiting_scans: 'Files that wait for the antivirus',
  wharf_clean_ups: 'Removals under way of what failures have left',
  wharf_config_refused: '1 while the file of the config says something that this process does not follow',
  wharf_clock_difference_seconds: 'By how much the state store is ahead of the clock of this machine',
  wharf_sessions: 'Sessions remembered in this process',
  wharf_client_connections: 'Connections of clients on the public port',
  wharf_waiting_calls: 'Calls that wait for a person to upload a file',
  wharf_open_exchanges: 'Exchanges under way',
  wharf_upstream_connections: 'Channels open to stdio and legacy SSE servers',
};

/** Gauges with several values, known only to this port's own parts. */
const SEVERAL = {
  wharf_build_info: { help: 'Always 1; the labels say which version runs, on which Node', labels: ['version', 'node'] },
  wharf_processes: { help: 'Processes of stdio servers that run now', labels: ['server'] },
  wharf_part_up: {
    help: '1 if a part works that this process cannot do without; if not 0, and the cause',
    labels: ['part', 'cause'],
  },
  wharf_server_up: { help: '1 if a server can be reached; if not 0, and the cause', labels: ['server', 'cause'] },
};

/** Wharf's own metrics as they are scraped, each with its labels. */
export const OWN_METRICS: Readonly<Record<string, readonly string[]>> = {
  ...labelsOf(COUNTERS),
  ...labelsOf(SEVERAL),
  ...Object.fromEntries(Object.keys(GAUGES).map((name) => [name, []])),
  ...Object.fromEntries(
    Object.entries(labelsOf(HISTOGRAMS)).flatMap(([name, labels]) =>
      ['_bucket', '_count', '_sum'].map((end) => [name + end, end === '_bucket' ? [...labels, 'le'] : labels]),
    ),
  ),
};

function labelsOf(rows: Readonly<Record<string, { labels: readonly string[] }>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(rows).map(([name, { labels }]) => [name, labels]));
}

export interface SeveralGauges {
  /** Several values of one kind, read whenever the metrics are scraped. */
  gauges(
    name: keyof typeof SEVERAL,
    read: () => Promise<readonly { labels: Record<string, string>; value: number }[]>,
  ): void;
}

/** What is read of all metrics. */
export interface Registered {
  text: () => Promise<string>;
  contentType: string;
  /** The values of a counter, by its labels. */
  counted: (name: CounterName) => readonly { labels: Labels; value: number }[];
}

/** The registry behind the `Metrics` port. */
export function createMetrics(): BoundMetrics & SeveralGauges & Registered {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counters = new Map<CounterName, Counter>();
  for (const [name, { help, labels, first = [] }] of Object.entries<CounterRow>(COUNTERS)) {
    const counter = new Counter({ name, help, labels });
    for (const one of first) counter.add(one, 0);
    registry.registerMetric(counter.forRegistry);
    counters.set(name as CounterName, counter);
  }
  const histograms = new Map<HistogramName, Histogram>();
  for (const [name, { help, labels, buckets }] of Object.entries(HISTOGRAMS)) {
    const histogram = new Histogram({ name, help, labels, buckets });
    registry.registerMetric(histogram.forRegistry);
    histograms.set(name as HistogramName, histogram);
  }
  return {
    count: (name, labels = {}, amount = 1) => counters.get(name)?.add(labels, amount),
    observe: (name, value, labels = {}) => histograms.get(name)?.observe(labels, value),
    bind: (name, labels) => histograms.get(name)?.bind(labels) ?? (() => {}),
    gauge: (name, read) => {
      new Gauge({
        name,
        help: GAUGES[name],
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    },
    gauges: (name, read) => {
      const { help, labels: labelNames } = SEVERAL[name];
      new Gauge({
        name,
        help,
        labelNames,
        registers: [registry],
        async collect() {
          const found = await read();
          this.reset();
          for (const { labels, value } of found) this.set(labels, value);
        },
      });
    },
    text: () => registry.metrics(),
    counted: (name) => counters.get(name)?.values() ?? [],
    contentType: registry.contentType,
  };
}

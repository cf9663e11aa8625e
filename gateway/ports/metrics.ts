/** Counters, gauges and histograms of the product, by name. The registry behind it lives in http/metrics. */
export interface Metrics {
  /** Adds `amount` (default 1). */
  count(name: CounterName, labels?: Record<string, string>, amount?: number): void;
  /** Records one observation: seconds or bytes, as the name says. */
  observe(name: HistogramName, value: number, labels?: Record<string, string>): void;
  /** A value that is read whenever the metrics are scraped. */
  gauge(name: GaugeName, read: () => number): void;
}

/** What observes often looks its labels up once. */
export interface BoundMetrics extends Metrics {
  /** @returns what observes values with these labels */
  bind(name: HistogramName, labels: Record<string, string>): (value: number) => void;
}

/** What is counted up. Its labels and its help are in `http/metrics.ts`. */
export type CounterName =
  | 'wharf_exchanges_total'
  | 'wharf_files_total'
  | 'wharf_file_bytes_total'
  | 'wharf_errors_total'
  | 'wharf_limits_total'
  | 'wharf_refused_requests_total'
  | 'wharf_dropped_messages_total'
  | 'wharf_previews_total'
  | 'wharf_downloads_total'
  | 'wharf_uploads_total'
  | 'wharf_scans_total'
  | 'wharf_swept_objects_total'
  | 'wharf_ended_sessions_total'
  | 'wharf_questions_total'
  | 'wharf_kept_out_bytes_total'
  | 'wharf_kept_out_tokens_total'
  | 'wharf_upstream_errors_total'
  | 'wharf_object_store_errors_total'
  | 'wharf_state_store_errors_total';

/** What is measured in seconds. */
export type HistogramName =
  | 'wharf_exchange_seconds'
  | 'wharf_upstream_seconds'
  | 'wharf_object_store_seconds'
  | 'wharf_state_store_seconds';

/** What is read at each scrape. */
export type GaugeName =
  | 'wharf_held_bytes'
  | 'wharf_part_memory_bytes'
  | 'wharf_open_exchanges'
  | 'wharf_upstream_connections'
  | 'wharf_queue_length'
  | 'wharf_waiting_scans'
  | 'wharf_clean_ups'
  | 'wharf_config_refused'
  | 'wharf_clock_difference_seconds'
  | 'wharf_held_bytes_of_one_principal'
  | 'wharf_held_bytes_of_one_server'
  | 'wharf_part_memory_bytes_of_one_principal'
  | 'wharf_part_memory_bytes_of_one_server'
  | 'wharf_requests_of_one_principal'
  | 'wharf_downloads'
  | 'wharf_catalog_bytes'
  | 'wharf_sessions'
  | 'wharf_client_connections'
  | 'wharf_waiting_calls';

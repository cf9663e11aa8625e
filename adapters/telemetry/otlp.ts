import type { AdapterDeps } from '../../gateway/config/adapter-list.js';
import type { Telemetry } from '../../gateway/ports/telemetry.js';
import { type OtlpSettings, settings } from './otlp/settings.js';

export { settings };

/** OpenTelemetry's packages are loaded only here. */
export async function create(chosen: OtlpSettings, deps: Pick<AdapterDeps, 'log' | 'clock'>): Promise<Telemetry> {
  const { openTelemetry } = await import('./otlp/telemetry.js');
  return openTelemetry(chosen, deps);
}

import { z } from 'zod';
import type { Telemetry } from '../../gateway/ports/telemetry.js';

/** Nothing is recorded. */
export const settings = z.strictObject({});

export function create(_settings: z.output<typeof settings>): Telemetry {
  return { name: 'none', close: async () => {} };
}

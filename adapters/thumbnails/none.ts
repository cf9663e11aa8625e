import { z } from 'zod';
import type { Thumbnailer } from '../../gateway/ports/thumbnailer.js';

/** No previews: images over the inline limit are links only. */
export const settings = z.strictObject({});

export function create(_settings: z.output<typeof settings>): Thumbnailer {
  return {
    name: 'none',
    render: async () => ({ kind: 'refused', reason: 'disabled' }),
    check: async () => {},
    close: async () => {},
  };
}

import { z } from 'zod';
import type { Previewer } from '../../gateway/ports/previewer.js';

/** Without previews, files over the inline limits are only links. */
export const settings = z.strictObject({});

export function create(_settings: z.output<typeof settings>): Previewer {
  return {
    name: 'none',
    takes: () => false,
    wholeUpTo: () => 0,
    render: async () => ({ kind: 'refused', reason: 'disabled' }),
    check: async () => {},
    close: async () => {},
  };
}

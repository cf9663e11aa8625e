import { z } from 'zod';
import type { Previewer } from '../../gateway/ports/previewer.js';

/** Without previews, images over the inline limit are only links. */
export const settings = z.strictObject({});

export function create(_settings: z.output<typeof settings>): Previewer {
  return {
    name: 'none',
    render: async () => ({ kind: 'refused', reason: 'disabled' }),
    check: async () => {},
    close: async () => {},
  };
}

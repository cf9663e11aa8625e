import { z } from 'zod';
import { count, time } from '../../../gateway/config/schema/fields.js';

/** What every audit log has, wherever it is written. */
export const journalSettings = {
  required: z
    .boolean()
    .default(true)
    .describe(
      'Refuse what cannot be recorded (`audit_unavailable`). false: it goes on, and the next line that can be written ' +
        'says how many are missing.',
    ),
  queue: count({ min: 10, max: 1_000_000 })
    .default(10_000)
    .describe('Entries that may wait to be written, in the whole process; one principal or server has `limits.share`.'),
  wait: time({ min: 10, max: 60_000 })
    .prefault('5s')
    .describe('How long an entry may take to be written. After that, what waits for it is refused.'),
};

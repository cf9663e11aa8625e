import { settings } from '../../../adapters/audit/none.js';
import { adapters } from '../../../adapters/index.js';
import type { AdapterList } from '../../../gateway/config/adapter-list.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { AuditEntry } from '../../../gateway/ports/audit.js';

/** An audit log in memory, and whether it can be written. */
interface Recorder {
  adapters: AdapterList;
  entries: AuditEntry[];
  isBroken: boolean;
}

export function recorder(): Recorder {
  const keys = new Set<string>();
  const made: Recorder = {
    entries: [],
    isBroken: false,
    adapters: {
      ...adapters,
      audit: {
        none: {
          settings,
          create: async () => ({
            name: 'recorder',
            isOn: true,
            async record(entry) {
              if (made.isBroken) throw new GatewayError('audit_unavailable', { reason: 'the disk is full' });
              made.entries.push(entry);
            },
            note: (entry) => void made.entries.push(entry),
            once(key, entry) {
              if (!keys.has(key)) made.entries.push(entry);
              keys.add(key);
            },
            check: async () => {},
            close: async () => {},
          }),
        },
      },
    },
  };
  return made;
}

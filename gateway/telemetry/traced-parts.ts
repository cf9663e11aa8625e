import { asGatewayError } from '../errors.js';
import type { Antivirus, Scan, Scanner } from '../ports/antivirus.js';
import type { Previewer } from '../ports/previewer.js';
import type { Tracer } from '../ports/telemetry.js';
import { partOf } from './whole.js';

/** An antivirus of which each file is a span. @param tracer absent: none is recorded */
export function tracedAntivirus(antivirus: Antivirus, tracer: Tracer | undefined): Antivirus {
  const { name, scanner } = antivirus;
  if (!tracer || !scanner) return antivirus;
  return partOf<Antivirus>({
    name,
    scanner: tracedScanner(scanner, tracer),
    close: () => antivirus.close(),
  });
}

function tracedScanner(scanner: Scanner, tracer: Tracer): Scanner {
  return partOf<Scanner>({
    maxSize: scanner.maxSize,
    larger: scanner.larger,
    scans: scanner.scans,
    queue: scanner.queue,
    database: scanner.database,
    check: () => scanner.check(),
    begin: async (signal) => {
      const span = tracer.begin({ name: 'scan file', kind: 'internal', facts: {} });
      let scan: Scan;
      try {
        scan = await scanner.begin(signal);
      } catch (error) {
        span.end({}, { type: asGatewayError(error).code });
        throw error;
      }
      return {
        write: (bytes) => scan.write(bytes),
        end: async () => {
          try {
            const verdict = await scan.end();
            span.end({ 'wharf.verdict': verdict.kind });
            return verdict;
          } catch (error) {
            span.end({}, { type: asGatewayError(error).code });
            throw error;
          }
        },
        abort: () => {
          // of a scan that has ended, only the connection is freed
          span.end({}, { type: 'aborted' });
          scan.abort();
        },
      };
    },
  });
}

/** A previewer of which each preview is a span. @param tracer absent: none is recorded */
export function tracedPreviewer(previewer: Previewer, tracer: Tracer | undefined): Previewer {
  if (!tracer) return previewer;
  return partOf<Previewer>({
    name: previewer.name,
    takes: (mimeType) => previewer.takes(mimeType),
    wholeUpTo: previewer.wholeUpTo.bind(previewer),
    render: async (source, limits, signal, owner) => {
      const span = tracer.begin({ name: 'preview file', kind: 'internal', facts: { 'wharf.file_bytes': source.size } });
      const result = await previewer.render(source, limits, signal, owner);
      span.end({}, result.kind === 'refused' ? { type: result.reason } : undefined);
      return result;
    },
    check: () => previewer.check(),
    close: () => previewer.close(),
  });
}

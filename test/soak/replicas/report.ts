import type { Sample } from '../sampler.js';
import { table } from '../table.js';
import type { Found } from './messages.js';
import { broken, type PhaseFigures } from './verdict.js';

export interface ReplicasSeen {
  facts: readonly string[];
  figures: readonly PhaseFigures[];
  found: Found | undefined;
  /** Samples of each gateway process, by a name for it. */
  memory: readonly { name: string; samples: readonly Sample[] }[];
}

const MIB = 1024 * 1024;
const MOST_TEXTS = 6;

const ms = (value: number) => (Number.isNaN(value) ? '–' : `${Math.round(value)} ms`);

/** The report as Markdown. */
export function replicasReport({ facts, figures, found, memory }: ReplicasSeen): string {
  const faults = broken(figures, found);
  return [
    '# Two replicas, of which one is killed, and a Redis that stops',
    facts.map((fact) => `- ${fact}`).join('\n'),
    faults.length === 0
      ? '**Passed.** No call failed but while a replica was gone or Redis was; nothing acknowledged was lost, and nothing refused could be read.'
      : `**Not passed**: ${faults.join('; ')}.`,
    '## Calls',
    table(
      ['', 'calls', 'p50', 'p95', 'p99', 'longest', 'errors'],
      figures.map(({ phase, calls, p50, p95, p99, longest, errors }) => [
        phase,
        String(calls),
        ...[p50, p95, p99, longest].map(ms),
        String(errors),
      ]),
    ),
    ...figures
      .filter(({ texts }) => texts.length > 0)
      .map(({ phase, texts }) =>
        [
          `Errors, ${phase}:`,
          '',
          ...texts
            .slice(0, MOST_TEXTS)
            .map(([text, count]) => `- ${count} × \`${text.replaceAll('`', "'").replaceAll('\n', ' ')}\``),
          ...(texts.length > MOST_TEXTS ? [`- and ${texts.length - MOST_TEXTS} kinds more`] : []),
        ].join('\n'),
      ),
    '## Files',
    found
      ? table(
          ['asked for again in the end', 'files', 'not as promised'],
          [
            ['links that were handed out', String(found.links), ''],
            ['uploads that were acknowledged', String(found.uploads), `${found.lost.length} (of both)`],
            [
              'refused uploads, and files of another caller',
              String(found.refused),
              `${found.readable.length} readable`,
            ],
          ],
        )
      : 'They were not asked for again.',
    '## Memory',
    table(
      ['process', 'peak RSS', 'RSS in the end', 'longest delay of the event loop'],
      memory.map(({ name, samples }) => [
        name,
        `${Math.round(Math.max(...samples.map(({ rss }) => rss)) / MIB)} MiB`,
        `${Math.round((samples.at(-1)?.rss ?? Number.NaN) / MIB)} MiB`,
        ms(Math.max(...samples.map(({ loop }) => loop).filter((loop) => !Number.isNaN(loop)))),
      ]),
    ),
    '',
  ].join('\n\n');
}

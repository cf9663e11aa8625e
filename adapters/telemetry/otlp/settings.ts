import { z } from 'zod';
import { FIELD_NAME, FIELD_VALUE } from '../../http/fields.js';

/** A collector that takes OTLP over HTTP. */
export const settings = z
  .strictObject({
    endpoint: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe(
        "The collector's base URL, to which `/v1/traces` and `/v1/metrics` are added. Default: " +
          '`OTEL_EXPORTER_OTLP_ENDPOINT` and its relatives, otherwise `http://localhost:4318`.',
      ),
    protocol: z
      .enum(['http/protobuf', 'http/json'])
      .optional()
      .describe('How messages are written. Default: `OTEL_EXPORTER_OTLP_PROTOCOL`, otherwise `http/protobuf`.'),
    headers: z
      .record(
        z.string().max(200).regex(FIELD_NAME, 'must be a header name'),
        z.string().max(8192).regex(FIELD_VALUE, 'must not hold control characters'),
      )
      .default({})
      .describe('Headers of each export, such as a key of the collector, beside `OTEL_EXPORTER_OTLP_HEADERS`.'),
    sample: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe(
        'The part of the traces that begin at Wharf which is recorded; a trace that a client has begun is recorded if ' +
          'its client records it. Default: `OTEL_TRACES_SAMPLER`, otherwise 1.',
      ),
    handOn: z
      .enum(['given', 'always'])
      .default('given')
      .describe(
        'Which requests to a server say in `params._meta` what trace they belong to: `given`: those whose client has ' +
          'put a `traceparent` there, which is replaced; `always`: each. Servers over HTTP get it as a header too.',
      ),
    queue: z
      .int()
      .min(1)
      .max(100_000)
      .default(2048)
      .describe('Most spans that wait for the collector; further ones are dropped.'),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(60)
      .optional()
      .describe('Most time that one export takes. Default: `OTEL_EXPORTER_OTLP_TIMEOUT`, otherwise 10.'),
    drainSeconds: z
      .int()
      .min(0)
      .max(30)
      .default(3)
      .describe('Most time that the end of Wharf waits for the last export.'),
  })
  .meta({ examples: [{ endpoint: 'http://127.0.0.1:4318', sample: 0.1 }] });

export type OtlpSettings = z.output<typeof settings>;

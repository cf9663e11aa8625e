import { pipeline, Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

/** A page of a listing has at most 1000 keys of at most 1024 characters, some of which XML spells with six. */
const LONGEST = 8 * 1024 * 1024;

/**
 * The SDK reads an answer to its end before it understands it. One that is longer than any answer of S3 may be is given up:
 * without this, a store, or what stands before it, could fill the memory.
 */
export function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const response = result.response as { statusCode?: number; body?: unknown };
      const isObject = context.commandName === 'GetObjectCommand' && (response.statusCode ?? 0) < 300;
      if (!isObject && response.body instanceof Readable) response.body = bounded(response.body);
      return result;
    },
    // behind all that reads the answer
    { step: 'deserialize', name: 'boundAnswers', priority: 'low' },
  );
}

function bounded(body: Readable): Readable {
  let left = LONGEST;
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length;
      if (left < 0) done(new Error(`The store's answer is longer than ${LONGEST} bytes.`));
      else done(null, chunk);
    },
  });
  return pipeline(body, limit, () => undefined);
}

import { toClientHeaders } from '../../mcp/headers.js';
import type { UpstreamAnswer } from '../../ports/upstream.js';
import type { ReplyHead } from '../reply.js';

const BODY_OF_KIND = { sse: 'events', json: 'values', lines: 'values', bytes: 'other', none: 'other' } as const;

/** How the answer to a client begins, by what its server says. */
export function headOf(answer: UpstreamAnswer): ReplyHead {
  return { status: answer.status, body: BODY_OF_KIND[answer.kind], headers: toClientHeaders(answer) };
}

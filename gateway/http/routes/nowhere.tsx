import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { GatewayError } from '../../errors.js';
import { errorAnswer } from '../../mcp/error-response.js';
import { isPageVisit } from '../origin/browser-request.js';
import { NowherePage } from '../pages/nowhere-page.js';
import { page } from '../pages/page-response.js';

/** Called for a request to an unknown path. */
export type Refused = (error: GatewayError, request: IncomingMessage) => void;

/** Answers a request to an unknown path: a page for a person, JSON for programs. @param start URL of the page at `/` */
export function nowhere(refused: Refused, start?: () => string) {
  return ({ env }: Context<{ Bindings: HttpBindings }>): Response => {
    const error = new GatewayError('route_unknown');
    const incoming = env.incoming;
    refused(error, incoming);
    if (isPageVisit(incoming.method, incoming.headers))
      return page(<NowherePage start={start?.()} />, error.httpStatus);
    const body = errorAnswer(error, undefined);
    return new Response(body, { status: error.httpStatus, headers: { 'content-type': 'application/json' } });
  };
}

import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './loopback.js';

/** An S3 that refuses some requests with an error of its own, and hands all others on to the real one. */
export interface RefusingS3 {
  readonly url: string;
  /** From now on: requests whose `METHOD /path?query` matches are answered like this. `undefined` ends it. */
  refuse(refusal: { what: RegExp; status: number; code: string } | undefined): void;
  /** Requests refused since the last call of `refuse`. */
  readonly refused: number;
  close(): Promise<void>;
}

/** @param target URL of the real one; signatures stay valid because every header goes on as it came */
export async function startRefusingS3(target: string): Promise<RefusingS3> {
  let refusal: Parameters<RefusingS3['refuse']>[0];
  let refused = 0;
  const server = createServer((incoming, outgoing) => {
    if (!refusal?.what.test(`${incoming.method} ${incoming.url}`)) return forward(target, incoming, outgoing);
    refused += 1;
    const { status, code } = refusal;
    incoming.resume();
    incoming.on('end', () => {
      outgoing.writeHead(status, { 'content-type': 'application/xml' });
      outgoing.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    refuse: (next) => {
      refusal = next;
      refused = 0;
    },
    get refused() {
      return refused;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function forward(target: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { hostname, port } = new URL(target);
  const { method, url: path, rawHeaders } = incoming;
  const onward = httpRequest({ hostname, port, method, path, headers: rawHeaders as never }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}

import { connect, type HostilePeer, outcomeOf, repeat } from './target.js';

/** Tools of the hostile servers that answer badly, and how many callers wait for each at one time. */
const TOOLS: Record<string, { server: string; callers: number }> = {
  blanks: { server: 'bad', callers: 2 },
  comments: { server: 'bad', callers: 2 },
  notifications: { server: 'bad', callers: 2 },
  endless: { server: 'bad', callers: 2 },
  drip: { server: 'bad', callers: 6 },
  links: { server: 'bad', callers: 1 },
  silent: { server: 'bad', callers: 3 },
  bomb: { server: 'bad', callers: 2 },
};
const STDIO_TOOLS: Record<string, { server: string; callers: number }> = {
  blanks: { server: 'bad-stdio', callers: 1 },
  noise: { server: 'bad-stdio', callers: 1 },
  drip: { server: 'bad-stdio', callers: 1 },
};
const WIDE_TOOLS = { wide: { server: 'bad', callers: 1 } };

/** A caller of a bad answer has enough of it after this. */
const PATIENCE_MS = 75_000;
const PAUSE_MS = 2_000;
/** Of links many are kept for each answer: more often, and nothing but the share of them would be seen. */
const LINKS_PAUSE_MS = 20_000;

function calling(name: string, does: string, tools: typeof TOOLS, isWide = false): HostilePeer {
  return {
    name,
    does,
    async run(target, note) {
      if (isWide && !target.wide) return;
      await Promise.all(
        Object.entries(tools).map(([tool, { server, callers }]) =>
          repeat(
            callers,
            tool === 'links' ? LINKS_PAUSE_MS : PAUSE_MS,
            (outcome) => note(`${tool}: ${outcome}`),
            async () => {
              const client = await connect(target, server);
              const answer = await client.open(
                'tools/call',
                { name: tool, arguments: {} },
                {},
                AbortSignal.timeout(PATIENCE_MS),
              );
              return lastWords(answer);
            },
          ),
        ),
      );
    },
  };
}

/** Reads to the end, and keeps the last part alone. */
async function lastWords(answer: Response): Promise<string> {
  let last = '';
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.length;
    last = (last + Buffer.from(part).toString('latin1')).slice(-4_000);
  }
  return outcomeOf(last) ?? (bytes > 0 ? 'answered' : 'empty');
}

export const badAnswers = calling(
  'bad answers',
  'calls of an HTTP server that sends blanks, SSE comments, notifications or a string without end, base64 that drips, 300 links, pictures that are slow to render, or nothing',
  TOOLS,
);
export const badLines = calling(
  'bad lines',
  'calls of a stdio server that writes blank lines, log lines, or base64 that drips',
  STDIO_TOOLS,
);
export const wideAnswers = calling(
  'wide answers',
  'calls of a server with 200,000 members in its result',
  WIDE_TOOLS,
  true,
);

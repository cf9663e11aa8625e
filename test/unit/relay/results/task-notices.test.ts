import { describe, expect, it } from '@jest/globals';
import { noise } from '../../../helpers/sdk-servers-bytes.js';
import { inPieces, type LabOptions, NO_LEAKS, OWNER, RelayLab, request } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, response: 60_000 };
const BLOCK = { type: 'image', data: noise(1300).toString('base64'), mimeType: 'image/png' };
const FILES = 'dev.wharf/files';

type Result = { content: { type: string; text?: string }[]; _meta?: Record<string, { name: string }[]> };

/** What a client is told of a task: in its answer to `tasks/get`, and by the server itself. */
async function told(result: object, options: LabOptions = {}, names: string | string[] = 'harbour.png') {
  const task = { taskId: 't1', status: 'completed', result };
  const bodies: [object, ReturnType<typeof request>[], (message: never) => Result][] = [
    [
      { result: task, id: 1 },
      [request('1', 'tasks/get', 't1')],
      ({ result }: { result: typeof task }) => result.result as Result,
    ],
    [
      { method: 'notifications/tasks', params: task },
      [],
      ({ params }: { params: typeof task }) => params.result as Result,
    ],
  ];
  const seen: Result[] = [];
  for (const [body, requests, read] of bodies) {
    const lab = new RelayLab({ limits: LIMITS, ...options });
    await lab.deps.taskTools.remember('t1', { tool: 'scan', names }, OWNER);
    const { text } = await lab.relay(inPieces(JSON.stringify(body), 300), 'json', requests);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
    seen.push(read(JSON.parse(text) as never));
  }
  return seen;
}

const namesIn = ({ _meta }: Result) => _meta?.[FILES]?.map(({ name }) => name);

describe('what a server says of a task by itself is as what it answers', () => {
  it('in the name of a file, which its call says', async () => {
    const [answered, notified] = await told({ content: [BLOCK] });
    expect(namesIn(notified as Result)).toEqual(['harbour.png']);
    expect(namesIn(answered as Result)).toEqual(['harbour.png']);
  });

  it('in the names of several files, and in that of a file that no name is left for', async () => {
    const content = [
      BLOCK,
      { ...BLOCK, data: noise(1301).toString('base64') },
      { ...BLOCK, data: noise(1302).toString('base64') },
    ];
    const [answered, notified] = await told({ content }, {}, ['a.png', 'b.png']);
    expect(namesIn(notified as Result)).toEqual(['a.png', 'b.png', expect.stringMatching(/^scan-3\./)]);
    expect(namesIn(answered as Result)).toEqual(namesIn(notified as Result));
  });

  it('in the types of files that its tool may return', async () => {
    const toolLimits = { scan: { limits: { acceptResults: ['application/pdf'] } } };
    const [answered, notified] = await told({ content: [BLOCK] }, { toolLimits });
    expect(notified?.content).toEqual([expect.objectContaining({ type: 'text' })]);
    expect(notified).not.toHaveProperty(['_meta', FILES]);
    expect(notified).toEqual(answered);
  });

  it('in the settings of its tool', async () => {
    const settings = { scan: { files: [], results: { files: ['d'] } } };
    const structuredContent = { d: BLOCK.data, e: 'x' };
    const [answered, notified] = await told({ content: [], structuredContent }, { settings });
    expect(namesIn(notified as Result)).toEqual(['harbour.png']);
    expect(namesIn(answered as Result)).toEqual(namesIn(notified as Result));
  });
});

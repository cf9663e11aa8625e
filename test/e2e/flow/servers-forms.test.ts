import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLines } from '../../helpers/audit-lines.js';
import { sha256Url } from '../../helpers/bytes.js';
import { ClamdStub } from '../../helpers/clamd-stub.js';
import { until } from '../../helpers/wait.js';
import { PNG } from '../asking/lab.js';
import { ask, start, stop, toldIn } from '../asking/server-lab.js';

const URI = `data:image/png;base64,${PNG.toString('base64')}`;
const FORM = {
  mode: 'form',
  message: 'a picture',
  requestedSchema: {
    type: 'object',
    properties: { scan: { type: 'string', format: 'uri', 'x-mcp-file': {} } },
    required: ['scan'],
  },
};
const KNOWS = { elicitation: { form: {} }, fileInputs: {} };

let folder: string;
let path: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-forms-'));
});
afterEach(stop);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What became of a file that the client fills in, and the lines of the audit log about it. */
async function filledIn(name: string, flow?: object[]) {
  path = join(folder, `${name}.jsonl`);
  await start(FORM, {}, { audit: { use: 'file', path }, ...(flow && { flow }) });
  const { call, question, answer } = await ask(KNOWS);
  await answer((await question()).id, { action: 'accept', content: { scan: URI } });
  const { came } = toldIn(await call.result());
  // a refusal does not wait for its line
  await until(async () => (await auditLines(path, 'handoff')).length > 0);
  return { came, lines: await auditLines(path, 'handoff') };
}

describe('a file in the answer to a form of a server', () => {
  const files = [{ digest: sha256Url(PNG), size: PNG.length, mimeType: 'image/png' }];

  it('does not reach the server where a rule keeps it from there, and the audit log says so', async () => {
    const { came, lines } = await filledIn('kept', [{ deny: { to: 'docs' } }]);
    expect(came).toEqual({ result: { action: 'cancel' } });
    expect(lines).toMatchObject([{ server: 'docs', to: 'docs', allowed: false, rule: 'flow[0]', files }]);
  });

  it('is in the audit log where it may go', async () => {
    const { came, lines } = await filledIn('given', [{ deny: { to: 'docs', types: ['application/pdf'] } }]);
    expect(came.result?.content).toEqual({ scan: URI });
    expect(lines).toMatchObject([{ server: 'docs', to: 'docs', allowed: true, files }]);
  });

  it('is in the audit log without rules as well', async () => {
    const { came, lines } = await filledIn('noted');
    expect(came.result?.content).toEqual({ scan: URI });
    expect(lines).toMatchObject([{ allowed: true, files }]);
  });

  it('does not reach the server where the antivirus finds something in it', async () => {
    const clamd = await ClamdStub.start({
      reply: (bytes) => (bytes.equals(PNG) ? 'stream: Bad.Picture FOUND' : 'stream: OK'),
    });
    try {
      await start(FORM, {}, { antivirus: { use: 'clamd', host: '127.0.0.1', port: clamd.port, maxSizeMiB: 1 } });
      const { call, question, answer } = await ask(KNOWS);
      await answer((await question()).id, { action: 'accept', content: { scan: URI } });
      // another file may do
      await answer((await question(2)).id, { action: 'decline' });
      expect(toldIn(await call.result()).came).toEqual({ result: { action: 'decline' } });
    } finally {
      await stop();
      await clamd.stop();
    }
  });

  it.each(['http', 'stdio'])(
    'does not reach a server over %s by the id of its own question, which Wharf answers',
    async (over) => {
      await start(FORM, { over }, { flow: [{ deny: { to: 'docs' } }] });
      const { call, question, answer } = await ask(KNOWS);
      const { id } = await question();
      for (const own of ['ask-1', 1]) await answer(own, { action: 'accept', content: { scan: URI } });
      await answer(id, { action: 'decline' });
      expect(toldIn(await call.result()).came).toEqual({ result: { action: 'decline' } });
    },
  );

  it('is not asked for where rules could not be kept: the client knows no fields for files', async () => {
    await start(FORM, {}, { flow: [{ deny: { to: 'docs', types: ['application/pdf'] } }] });
    const { call } = await ask({ elicitation: { form: {} } });
    expect(JSON.stringify(toldIn(await call.result()).came.error)).toContain('knows no fields for files');
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { connect, PNG, uploadAll } from './lab.js';
import { ask, BINARY, binary, FORMS, schemaIn, start, stop, toldIn } from './server-lab.js';

afterEach(stop);

const URIS = { type: 'string', format: 'uri' };
const NAMED = { accept: ['image/png'], maxSize: 1000 };
/** A form of SEP-2356 as it was in March 2026. */
const EARLY = {
  message: 'the picture to print.',
  requestedSchema: {
    type: 'object',
    properties: { picture: URIS, site: URIS, copies: { type: 'integer' } },
    required: ['picture'],
  },
  requestedFiles: { picture: NAMED, copies: {}, nothing: {} },
};

describe('a form that names its files in requestedFiles', () => {
  it('has its file asked for on a page, where its client knows no such form (2356o-28, 2356o-08)', async () => {
    const { mcp } = await start(EARLY);
    const { client, asked } = await connect(
      mcp,
      async ({ url }) => {
        if (url === undefined) return { action: 'accept', content: { site: 'https://example.com/' } };
        await uploadAll(url, [['me (1).png', PNG]]);
        return { action: 'accept' };
      },
      { elicitation: { form: {}, url: {} } },
    );
    const { came } = toldIn(await client.callTool({ name: 'ask', arguments: {} }));
    expect(asked.map(({ mode }) => mode)).toEqual(['url', 'form']);
    // this revision has the file's name in the URI
    const picture = `data:image/png;name=me%20%281%29.png;base64,${PNG.toString('base64')}`;
    expect(came.result?.content).toEqual({ picture, site: 'https://example.com/' });
    await client.close();
  });

  it('is a field of type file in binary mode (2356o-28)', async () => {
    await start(EARLY);
    const { params } = await (await ask(BINARY)).question();
    const { properties } = schemaIn(params);
    expect(properties.picture).toMatchObject({ type: 'file', accept: ['image/png'], maxSize: 500 });
    expect(properties).toMatchObject({ site: URIS, copies: { type: 'integer' } });
    expect(params).not.toHaveProperty('requestedFiles');
  });

  it('reaches a client that declares fileInputs as it is (2356o-28)', async () => {
    await start(EARLY);
    const { question, answer } = await ask(FORMS);
    const { id, params } = await question();
    expect(params).toEqual(EARLY);
    await answer(id, { action: 'decline' });
  });

  it('is how Wharf asks a client that declares fileInputs (2356o-27)', async () => {
    await start(binary());
    const { params } = await (await ask(FORMS)).question();
    expect(params?.requestedFiles).toEqual({ scan: NAMED });
    expect(schemaIn(params).properties.scan).toMatchObject({ ...URIS, 'x-mcp-file': NAMED });
  });
});

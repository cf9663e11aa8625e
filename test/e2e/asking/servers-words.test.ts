import { afterEach, describe, expect, it } from '@jest/globals';
import { connect, upload } from './lab.js';
import { ask, BINARY, binary, FORMS, schemaIn, start, stop } from './server-lab.js';

afterEach(stop);

const WORDS = { title: 'Passport', description: 'The page with the photo' };

describe("a server's own words about a file", () => {
  it.each([
    ['a form', FORMS],
    ['binary mode', BINARY],
  ])('are its title and description in %s (1306-08)', async (_way, capabilities) => {
    await start(binary({ field: WORDS }));
    const { params } = await (await ask(capabilities)).question();
    expect(schemaIn(params).properties.scan).toMatchObject(WORDS);
    expect(params?.message).toBe('The server "docs" asks: the scan to read.');
  });

  it('are in the message and on the page, where a page takes it (1306-08)', async () => {
    const { mcp } = await start({ ...binary({ field: WORDS }), message: 'your papers' });
    let page = '';
    const { client, asked } = await connect(
      mcp,
      async ({ url = '' }) => {
        page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
        await upload(url);
        return { action: 'accept' };
      },
      { elicitation: { url: {} } },
    );
    await client.callTool({ name: 'ask', arguments: {} });
    const said = 'your papers. File: Passport: The page with the photo.';
    expect(asked[0]?.message).toBe(`The server "docs" asks: ${said} Open the page to choose and upload the file.`);
    expect(page).toContain(`asks: ${said}`);
    await client.close();
  });
});

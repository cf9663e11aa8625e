import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { RelayLab } from '../../relay-lab.js';

/** A file of the result, in its content and in its structuredContent. */
const FILE = Buffer.alloc(200, 'a file').toString('base64');
/** Longer than what stays in a message while it is read. */
const WORDS = 'no file, but many words. '.repeat(20);

describe('a structuredContent that becomes text', () => {
  it.each([
    ['last a number', `"w":"${WORDS}","w":1`, { w: 1 }],
    ['last a long string', `"w":1,"w":"${WORDS}"`, { w: WORDS }],
    ['both long', `"w":"${WORDS}x","w":"${WORDS}"`, { w: WORDS }],
    ['last an object', `"w":{"x":"${WORDS}"},"w":{"y":2}`, { w: { y: 2 } }],
  ])('has of two equal keys what a reader of JSON has: %s', async (_what, members, said) => {
    const lab = new RelayLab({ limits: { inlineOther: 90, inlineImage: 90 }, host: { structured: 'drop' } });
    const content = `[{"type":"audio","data":"${FILE}","mimeType":"audio/wav"}]`;
    const result = `{"content":${content},"structuredContent":{${members},"n":1e400}}`;
    const { text } = await lab.relay([Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`)]);
    const { structuredContent, content: blocks } = JSON.parse(text).result;
    expect(structuredContent).toBeUndefined();
    const last = blocks.at(-1).text as string;
    expect(JSON.parse(last)).toEqual({ ...said, n: Number.POSITIVE_INFINITY });
    expect(last).toContain('"n":1e400');
  });
});

describe('a list of blocks that is longer than Wharf reads', () => {
  const blocks = Array.from({ length: 40 }, (_, index) => ({ type: 'text', text: `line ${index}` }));
  const outputSchema = { type: 'object', properties: { file: { type: 'string', contentEncoding: 'base64' } } };

  it.each(['drop', 'with-blocks'] as const)('stays, and has structuredContent beside it: %s', async (structured) => {
    const limits = { inlineOther: 90, inlineImage: 90, values: 100 };
    const tools = [{ name: 't', inputSchema: { type: 'object' }, outputSchema }];
    const lab = new RelayLab({ limits, host: { structured }, tools });
    const result = JSON.stringify({ content: blocks, structuredContent: { file: FILE } });
    const { text } = await lab.relay([Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`)]);
    const { structuredContent, content } = JSON.parse(text).result;
    expect(content).toEqual(blocks);
    expect(structuredContent.file).toMatch(/^http/);
  });
});

describe('a text with a file among its words, which structuredContent repeats', () => {
  const uri = `data:image/png;base64,${Buffer.alloc(700, 'a chart').toString('base64')}`;
  const words = `# Report\n\n![chart](${uri})\n"as drawn", 7 é\n`;
  const answer = async (structuredContent: object, text = words) => {
    const lab = new RelayLab({ limits: { inlineOther: 90, inlineImage: 90 }, host: { structured: 'drop' } });
    const result = { content: [{ type: 'text', text }], structuredContent };
    const { text: sent } = await lab.relay([Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))]);
    return JSON.parse(sent).result;
  };

  it.each<[string, object, string]>([
    ['as the only member, as servers in Python do', { result: words }, words],
    ['in JSON as well', { pages: [words], n: 7 }, JSON.stringify({ pages: [words], n: 7 })],
    ['twice', { a: words, b: words.trim() }, words],
  ])('stays alone for a host that shows no text beside it: %s', async (_what, structure, text) => {
    const { structuredContent, content } = await answer(structure, text);
    expect(structuredContent).toBeUndefined();
    expect(content).toHaveLength(1);
    expect(content[0].text).toMatch(/http/);
    expect(content[0].text).not.toContain('base64,');
  });

  it.each<[string, object]>([
    ['a number', { result: words, n: 5 }],
    ['other words', { result: `${words} and more` }],
    ['words of its own', { rows: ['one', 'two'] }],
    ['other long words', { result: words, log: 'said nowhere else. '.repeat(20) }],
  ])('but structuredContent stays where it says more, with the link of the text: %s', async (_what, structure) => {
    const { structuredContent, content } = await answer(structure);
    const [link] = content[0].text.match(/http:[^)]+/);
    expect(structuredContent).toEqual(JSON.parse(JSON.stringify(structure).replaceAll(uri, link)));
  });
});

describe('the previews of files that only structuredContent has', () => {
  it.each(['drop', 'with-blocks'] as const)('are made a few together: %s', async (structured) => {
    let running = 0;
    let most = 0;
    let made = 0;
    const of = async () => {
      running += 1;
      most = Math.max(most, running);
      await setImmediate();
      running -= 1;
      made += 1;
      return undefined;
    };
    const file = { type: 'string', contentEncoding: 'base64' };
    const outputSchema = { type: 'object', properties: { files: { type: 'array', items: file } } };
    const lab = new RelayLab({
      limits: { inlineOther: 90 },
      host: { structured },
      tools: [{ name: 't', inputSchema: { type: 'object' }, outputSchema }],
      previews: { ahead: undefined, of },
    });
    const files = Array.from({ length: 7 }, (_, index) => Buffer.alloc(200, `file ${index}`).toString('base64'));
    const again = files[0];
    const result = JSON.stringify({ content: [], structuredContent: { files: [...files, again] } });
    const { text } = await lab.relay([Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`)]);
    const { content } = JSON.parse(text).result;
    const words = content.flatMap((block: { type: string; text?: string }) =>
      block.type === 'text' ? block.text : [],
    );
    expect(words.filter((one: string) => one.includes(' · '))).toHaveLength(7);
    expect([made, most]).toEqual([7, 4]);
  });
});

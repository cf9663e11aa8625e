import { describe, expect, it } from '@jest/globals';
import { JsonDocument } from '../../../../gateway/json/document.js';
import { Edits } from '../../../../gateway/json/edit.js';
import { Room } from '../../../../gateway/relay/client/room.js';
import { TextRenames } from '../../../../gateway/relay/results/text-renames.js';

const URI = 'files://stored/17';
const LINK = 'http://wharf.test/d/abcdefgh';
const PLENTY = 16 * 1024 * 1024;

/** The texts of a result after its server's URIs have been replaced. */
async function renamed(texts: readonly string[], names: Record<string, string>, room = new Room(PLENTY, 0)) {
  const result = { content: texts.map((text) => ({ type: 'text', text })) };
  const json = Buffer.from(JSON.stringify({ result }));
  const paths = texts.map((_, index) => ['result', 'content', index, 'text']);
  const located = JsonDocument.of(json).find(paths);
  const place = { path: ['result'], result, subject: 't' };
  const edits = new Edits(located);
  await new TextRenames(located, { room, owner: {} }).rename(place, new Map(Object.entries(names)), edits);
  const rendered = Buffer.concat(edits.applied().pieces as readonly Buffer[]);
  const after = JSON.parse(rendered.toString()) as { result: typeof result };
  return after.result.content.map(({ text }) => text);
}

describe('a URI of the server’s in the texts of a result', () => {
  it.each([
    [`see ${URI}.`, `see ${LINK}.`],
    [`{"uri":"${URI}"}`, `{"uri":"${LINK}"}`],
    [`${URI} and ${URI}`, `${LINK} and ${LINK}`],
    [`${URI}8 ${URI}/a ${URI}-b ${URI}~`, `${URI}8 ${URI}/a ${URI}-b ${URI}~`],
    [`://${URI}`, `://${LINK}`],
    [`x${URI}`, `x${URI}`],
    ['nothing', 'nothing'],
  ])('becomes the link: %s', async (text, after) => {
    expect(await renamed([text], { [URI]: LINK })).toEqual([after]);
  });

  it('is the longest that fits', async () => {
    const names = { [URI]: LINK, [`${URI}?v=2`]: `${LINK}-2` };
    expect(await renamed([`${URI} ${URI}?v=2`], names)).toEqual([`${LINK} ${LINK}-2`]);
  });

  it('stays where it could be another word: short, or without a scheme', async () => {
    const texts = ['a://b a://b', 'report-2026-final.pdf'];
    expect(await renamed(texts, { 'a://b': LINK, 'report-2026-final.pdf': LINK })).toEqual(texts);
  });

  it('becomes the link a hundred times at most, in all texts together', async () => {
    const texts = Array.from({ length: 30 }, () => `${URI} `.repeat(10));
    const after = await renamed(texts, { [URI]: LINK });
    expect(after.join('').split(LINK)).toHaveLength(101);
  });

  it('stays where the message has no room for links', async () => {
    const growth = LINK.length - URI.length;
    const texts = [`${URI} ${URI}`, URI, URI];
    const after = await renamed(texts, { [URI]: LINK }, new Room(1000 + growth, 1000));
    expect(after).toEqual([texts[0], LINK, URI]);
  });

  it('is looked for ten thousand times at most, however often what is not a name stands there', async () => {
    const texts = [`${'a://b '.repeat(20_000)}${URI}`];
    expect(await renamed(texts, { [URI]: LINK })).toEqual(texts);
  });
});

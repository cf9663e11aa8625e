import { describe, expect, it } from '@jest/globals';
import { JsonDocument } from '../../../gateway/json/document.js';
import { Edits, membersOf } from '../../../gateway/json/edit.js';
import { writtenText } from '../../../gateway/json/written.js';

function applied(text: string, change: (edits: Edits) => void): string {
  const document = JsonDocument.of(Buffer.from(text));
  const edits = new Edits(document);
  change(edits);
  document.find(edits.paths());
  const { pieces } = edits.applied();
  return Buffer.concat(pieces as Buffer[]).toString();
}

describe('edits of one text', () => {
  it('that stand in one another are one: the last word counts, and what it stands in is made', () => {
    const after = applied('{"n":1e400}', (edits) => {
      edits.set(['doc', 'files'], ['a', { b: 1 }]);
      edits.write(['doc', 'files', 0], writtenText('"file"'));
      edits.set(['doc', 'files', 1, 'c'], 2);
      edits.set(['doc', 'files', 7], 'nowhere');
    });
    expect(after).toBe('{"doc":{"files":["file",{"c":2,"b":1}]},"n":1e400}'.replace('{"c":2,"b":1}', '{"b":1,"c":2}'));
  });

  it('put the members of a later stage before those of an earlier one', () => {
    const after = applied('{"x":{"z":0}}', (edits) => {
      edits.nextStage();
      edits.set(['x', 'a'], 1);
      edits.set(['x', 'b'], 2);
      edits.nextStage();
      edits.set(['x', 'c'], 3);
      edits.set(['x', 'a'], 4);
    });
    expect(after).toBe('{"x":{"c":3,"a":4,"b":2,"z":0}}');
  });

  it('put members that are added in one piece where their stage puts them', () => {
    const add = (text: string) =>
      applied(text, (edits) => {
        edits.nextStage();
        edits.add(['x'], membersOf({ a: 1, b: { c: 2 } }));
        edits.set(['x', 'd'], 3);
        edits.nextStage();
        edits.set(['x', 'e'], 4);
      });
    expect(add('{"x":{"z":0}}')).toBe('{"x":{"e":4,"a":1,"b":{"c":2},"d":3,"z":0}}');
    expect(add('{"x":{ } }')).toBe('{"x":{"e":4,"a":1,"b":{"c":2},"d":3 } }');
    expect(add('{"x":[]}')).toBe('{"x":[]}');
  });

  it('count members at the top as an edit', () => {
    const edits = new Edits(JsonDocument.of(Buffer.from('{}')));
    edits.add([], membersOf({ a: 1 }));
    expect(edits.isEmpty).toBe(false);
  });

  it('know what stands in the text and what an edit has put there', () => {
    const document = JsonDocument.of(Buffer.from('{"args":{"old":1,"here":2}}'));
    const edits = new Edits(document);
    edits.set(['args', 'made'], { list: [1] });
    edits.remove(['args', 'old']);
    document.find([...edits.paths(), ['args', 'here']]);
    const has = (...path: (string | number)[]) => edits.has(path);
    expect([has('args'), has('args', 'here'), has('args', 'made', 'list', 0)]).toEqual([true, true, true]);
    expect([has('args', 'old'), has('args', 'made', 'list', 1), has('args', 'no')]).toEqual([false, false, false]);
  });

  it('are none in what is not an object', () => {
    const text = '{"list":[1,2],"text":"a"}';
    const after = applied(text, (edits) => {
      edits.set(['list', 'a'], 1);
      edits.set(['text', 'a'], 1);
      edits.append(['text'], writtenText('1'));
      edits.remove(['list', 0]);
    });
    expect(after).toBe(text);
  });

  it('go past what is only known to exist, and are refused in it', () => {
    const text = Buffer.from('{"params":{"result":{"a":1}}}');
    const places = {
      size: text.length,
      slice: (start: number, end: number) => text.subarray(start, end),
      at: (path: readonly (string | number)[]) => {
        if (path.join('/') === 'params/result') return { start: 20, end: 27 };
        return path.length < 2 ? { start: 0, end: 0 } : undefined;
      },
    };
    const known = new Edits(places);
    known.set(['params', 'result', 'b'], 2);
    const { pieces } = known.applied();
    expect(Buffer.concat(pieces as Buffer[]).toString()).toBe('{"params":{"result":{"b":2,"a":1}}}');
    const unknown = new Edits(places);
    unknown.set(['params', 'other'], 2);
    expect(() => unknown.applied()).toThrow('the place of /params/other is not known');
  });

  it('keep what is named by __proto__ a name like any other', () => {
    const after = applied('{"__proto__":{"a":1}}', (edits) => edits.set(['__proto__', 'b'], 2));
    expect(after).toBe('{"__proto__":{"b":2,"a":1}}');
  });

  it('have an index of what they name only, however many values the text has', () => {
    const text = Buffer.from(
      `{"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},"many":[${'{},'.repeat(400_000)}0],"a":1}`,
    );
    const document = JsonDocument.of(text);
    const edits = new Edits(document);
    edits.set(['a'], 2);
    const before = process.memoryUsage().heapUsed;
    document.find(edits.paths());
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(40 * 1024 * 1024);
    expect(document.at(['a'])).toMatchObject({ end: text.length - 1 });
    expect(document.at(['many'])).toBeUndefined();
  });
});

import { Writable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { LineOutput } from '../../../gateway/stdio/output.js';

it('a line that cannot be written keeps none of the lines behind it', async () => {
  const written: string[] = [];
  const out = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  const { write } = out;
  out.write = () => {
    out.write = write;
    throw new Error('cannot be written');
  };
  const lines = new LineOutput(out);
  const [first, second] = [lines.line(Buffer.from('one')), lines.line(Buffer.from('two'))];
  await expect(first).rejects.toThrow('cannot be written');
  await second;
  expect(written).toEqual(['two\n']);
});

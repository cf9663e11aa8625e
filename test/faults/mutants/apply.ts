import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mutant } from './mutant.js';

/** The file of a mutant as it is, and with the fault. @throws Error when the change cannot be made in exactly one way */
export async function applied(root: string, mutant: Mutant): Promise<{ before: string; after: string }> {
  const before = await readFile(join(root, mutant.file), 'utf8');
  const places = before.split(mutant.find).length - 1;
  if (places !== 1) {
    throw new Error(
      `${mutant.name}: its text stands ${places} times in ${mutant.file}, not once; seed the fault where the code is now`,
    );
  }
  // not as a pattern: `$&` in a replacement would mean something
  const after = before.replace(mutant.find, () => mutant.replace);
  if (after === before) throw new Error(`${mutant.name} changes nothing`);
  return { before, after };
}

import type { Mutant } from './mutant.js';

/** Each host gets the link where it looks, and nothing that it would show its model as noise. */
export const HOSTS: readonly Mutant[] = [
  {
    name: 'image-link-for-a-reader',
    fault: 'VS Code reads the link of an image at once, and its model gets the bytes as text.',
    file: 'adapters/dialects/mcp-inline/write.ts',
    find: "if (host?.resourceLinks === 'no-images' && mimeType.startsWith('image/')) return false;",
    replace: "if (host?.resourceLinks === 'no-images' && mimeType === '') return false;",
    suites: ['e2e/hosts/structured'],
  },
  {
    name: 'page-before-the-text-about-it',
    fault: 'A host that reads a document by its link shows its model the pixels of a page as text.',
    file: 'gateway/relay/local/own-resources.ts',
    find: "if (!preview?.image || !mimeType.startsWith('image/')) return [about];",
    replace: 'if (!preview?.image) return [about];',
    suites: ['e2e/files/own-resources'],
  },
  {
    name: 'completion-shown-to-the-server',
    fault: 'A server that did not make a link is asked to complete it.',
    file: 'gateway/relay/local/own-resources.ts',
    find: 'const values = [isObject(ref) && ref.uri, isObject(argument) && argument.value, ...given];',
    replace: 'const values = [isObject(ref) && ref.uri, ...given];',
    suites: ['e2e/files/own-resources'],
  },
  {
    name: 'subscription-shown-to-the-server',
    fault: 'A server is asked to watch a link that it did not make.',
    file: 'gateway/relay/arguments/own-subscriptions.ts',
    find: "if (typeof uri !== 'string' || !(await library.owns(uri))) others.push(uri);",
    replace: "if (typeof uri !== 'string' || !library.claims(uri)) others.push(uri);",
    suites: ['e2e/files/own-resources'],
  },
  {
    name: 'room-for-each-text',
    fault: 'Three texts together are more than a host shows of a result, and their links are in its file.',
    file: 'gateway/relay/results/host/text-room.ts',
    find: "const isShared = per === 'result';",
    replace: "const isShared = per === 'result' && texts.length === 1;",
    suites: ['unit/relay/results/host/text-room'],
  },
  {
    name: 'json-never-too-long',
    fault: 'A long text that is JSON passes whole to a host that cuts it off.',
    file: 'gateway/relay/results/host/unshown-blocks.ts',
    find: '[...cuts.cuts, ...texts].flatMap(',
    replace: '[...cuts.cuts, ...texts.slice(0, 0)].flatMap(',
    suites: ['e2e/hosts/unshown'],
  },
  {
    name: 'last-quote-of-any-kind',
    fault: 'A string that begins with an escaped quote counts as a whole string of base64.',
    file: 'gateway/relay/cut/short-strings.ts',
    find: 'while (quote > 0 && piece[quote - 1] === BACKSLASH) {',
    replace: 'while (quote < 0 && piece[quote - 1] === BACKSLASH) {',
    suites: ['unit/relay/cut/short-strings'],
  },
];

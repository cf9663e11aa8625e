import type { Mutant } from './mutant.js';

/** Traces belong together, and say nothing that they must not. */
export const TELEMETRY: readonly Mutant[] = [
  {
    name: 'trace-of-message-ignored',
    fault: 'A span is not below the one that its message names.',
    file: 'gateway/telemetry/exchange-watch.ts',
    find: '  return own ? { parent: own, link: around } : { parent: around };',
    replace: '  return around ? { parent: around, link: own } : { parent: around };',
    suites: ['e2e/telemetry/traces'],
  },
  {
    name: 'secret-in-span',
    fault: 'A span has a secret of an address, a name or an error in it.',
    file: 'gateway/telemetry/words.ts',
    find: '  return redactText(shortText(text, MAX_TEXT)).slice(0, MAX_TEXT);',
    replace: '  return text.slice(0, MAX_TEXT);',
    suites: ['e2e/telemetry/traces'],
  },
  {
    name: 'file-of-another-call',
    fault: 'A file on a shared channel is in the trace of a call that it is not of.',
    file: 'gateway/relay/channels/streams.ts',
    find: 'return first === last ? first?.stream : undefined;',
    replace: 'return first?.stream;',
    suites: ['e2e/telemetry/files'],
  },
  {
    name: 'any-tool-is-a-label',
    fault: 'A client makes as many series of a histogram as it can invent names of tools.',
    file: 'gateway/telemetry/known-tools.ts',
    find: 'if (!this.#names.has(name)) return OTHER;',
    replace: '',
    suites: ['e2e/telemetry/traces'],
  },
  {
    name: 'trace-not-handed-on',
    fault: 'A server finds the span of the client and not that of Wharf in a message.',
    file: 'gateway/relay/arguments/hand-on-trace.ts',
    find: "    post.edits.set([...meta, 'traceparent'], context.traceparent);",
    replace: '',
    suites: ['e2e/telemetry/traces'],
  },
  {
    name: 'collector-away-told-each-time',
    fault: 'Each export that a collector refuses is a line of the log.',
    file: 'adapters/telemetry/otlp/reported.ts',
    find: '    if (isFailing === this.#isFailing) return;',
    replace: '    if (!isFailing && !this.#isFailing) return;',
    suites: ['e2e/telemetry/collector-away'],
  },
];

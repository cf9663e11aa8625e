import type { Dialect } from '../../../gateway/ports/dialect.js';
import { readArgument } from './argument.js';
import { readRefusal, refuse } from './refuse.js';
import { showTool } from './show-tool.js';
import { slotsOf } from './slots.js';

/** SEP-2356, declarative file inputs: arguments that a schema says are files, filled with data: URIs. */
export function create(): Dialect {
  return {
    name: 'sep-2356',
    about: 'file arguments are marked with `x-mcp-file`, and come as data URIs inside the call.',
    revision: '2026-03-04 … 2026-05-13',
    reads: ['fileInputs'],
    // it speaks of files on their way to servers only
    places: [],
    spokenBy: () => false,
    read: () => ({ kind: 'not-mine' }),
    write: () => [],
    declares: { fileInputs: {} },
    slotsOf,
    showTool,
    readArgument,
    refuse,
    readRefusal,
  };
}

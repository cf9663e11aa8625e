/** What Wharf uses of `node:ffi`, which Node has since 26.1 and calls experimental. */
interface ForeignFunctions {
  dlopen(
    path: null,
    functions: { malloc_trim: { arguments: readonly ['uint64']; return: 'int32' } },
  ): { functions: { malloc_trim: (pad: bigint) => number } };
}

/**
 * The function of glibc that gives free memory back to the system, wherever it lies. Of itself glibc gives back only what is
 * free at the end of its heaps: 10,000 sessions opened one after another left 35 MiB of holes, where sockets, buffers and
 * compiled code had been. V8's own heap has none of that memory.
 * @returns undefined where Node or the system has no such function
 */
export function mallocTrim(): (() => void) | undefined {
  // the only way to load it without a line of text on stderr, where the log is
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    const ffi = process.getBuiltinModule('node:ffi') as ForeignFunctions | undefined;
    const signature = { arguments: ['uint64'], return: 'int32' } as const;
    const trim = ffi?.dlopen(null, { malloc_trim: signature }).functions.malloc_trim;
    return trim && (() => void trim(0n));
  } catch {
    // another C library, or Node's permission model
    return undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

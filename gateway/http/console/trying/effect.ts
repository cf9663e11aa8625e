import { isObject } from '../../../json/value.js';
import type { JsonObject } from '../../../ports/json.js';

/** What a tool says about its effects, in words. */
export interface Effect {
  words: string;
  /** It may destroy something, so a person confirms the call. */
  isDestructive: boolean;
}

/** What a tool says about itself. MCP's defaults hold for what it does not say: it may change and destroy. */
export function effectOf({ annotations }: JsonObject): Effect {
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {};
  if (destructiveHint === true)
    return { words: 'The tool says that it may destroy or overwrite.', isDestructive: true };
  if (readOnlyHint === true) return { words: 'The tool says that it changes nothing.', isDestructive: false };
  if (destructiveHint === false)
    return { words: 'The tool says that it changes something, and destroys nothing.', isDestructive: false };
  return {
    words: 'The tool does not say whether it destroys anything, which counts as if it may.',
    isDestructive: true,
  };
}

import type { ClientFacts } from '../../../ports/client.js';
import type { HolderKind } from '../../../ports/dialect.js';
import type { JsonObject, JsonPath } from '../../../ports/json.js';

/** Blocks in the place of one. */
interface Placed {
  kind: HolderKind;
  blocks: JsonObject[];
  /** What a link of the server's becomes. */
  link?: string;
  range: { path: JsonPath };
}

/**
 * Blocks of Wharf's whose texts stand on lines of their own, for a host that puts nothing between two texts: what follows an
 * address there would belong to it.
 * @param isFirst nothing is before them in their result
 */
export function apart(blocks: JsonObject[], isFirst: boolean, { host }: Pick<ClientFacts, 'host'>): JsonObject[] {
  if (!host?.textsApart) return blocks;
  return blocks.map((block, at) => {
    const { type, text } = block;
    if (type !== 'text' || typeof text !== 'string') return block;
    const begin = (isFirst && at === 0) || text.startsWith('\n') ? '' : '\n';
    return { ...block, text: `${begin}${text}${text.endsWith('\n') ? '' : '\n'}` };
  });
}

/** Does that with what replaces blocks. The words for links are on lines of their own for every host. */
export function setApart(replacements: readonly Placed[], client: Pick<ClientFacts, 'host'>): void {
  for (const one of replacements) {
    if (one.kind === 'content' && !one.link) one.blocks = apart(one.blocks, one.range.path.at(-1) === 0, client);
  }
}

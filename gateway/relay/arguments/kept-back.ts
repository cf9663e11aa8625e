import type { Flow, FlowQuestion } from '../../files/flow/flow.js';
import { sizeText } from '../../policy/amounts.js';
import type { FlowRule } from '../../policy/flow.js';

/** Why a file is kept from a server. */
export interface KeptBack {
  /** Follows the name of the argument. */
  text: string;
  /** The place of the rule in the config. */
  rule: string;
  /** What the user may be asked, and about which bytes. */
  consentText?: string;
  consentDigest?: string;
  /** Servers that have given these bytes. */
  origins: readonly string[];
}

/** What the rules say of these bytes, wherever they have come from before; undefined when they may go. */
export async function keptBack(flow: Flow, question: FlowQuestion, tool: string): Promise<KeptBack | undefined> {
  const answer = await flow.decide(question);
  if (answer.kind === 'allowed') return undefined;
  const { rule, origins } = answer;
  const { to, file } = question;
  if (answer.kind === 'denied') return denied(origins, to, rule);
  const whose = origins.length === 0 ? 'a file of yours' : `a file of "${origins.join('", "')}"`;
  const text = `is ${whose}, which may go to "${to}" only if the user agrees`;
  const about = { rule: rule.place, origins };
  if (answer.kind === 'declined') return { ...about, text: `${text}; the user has declined` };
  const what = `${whose} (${file.mimeType}, ${sizeText(file.size)})`;
  return {
    ...about,
    text: `${text}, and this client cannot ask`,
    consentText: `The tool '${tool}' of the server "${to}" is to get ${what}. May it?`,
    consentDigest: file.digest,
  };
}

/**
 * Why a rule keeps a file from a server.
 * @param origins servers that the file is known to come from
 */
export function denied(origins: readonly string[], server: string, { from, to, place }: FlowRule): KeptBack {
  const [source = 'anywhere'] = from === undefined || from.includes('*') ? origins : [from];
  const target = to === undefined || to.includes('*') ? server : to;
  const text = `may not be given here: handing files on from "${source}" to "${target}" is switched off`;
  return { text, rule: place, origins };
}

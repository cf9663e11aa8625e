import type { Limits } from '../../policy/limits.js';
import type { SlotSink, SlotValue } from '../../wire/json/reader.js';
import type { WeightLimits } from '../../wire/json/weigh.js';
import type { Cut } from './cut.js';
import type { SpelledIn } from './gathered-string.js';
import { NestedCuts } from './nested-cuts.js';
import { STRUCTURED_SLOT } from './places.js';
import { PlainCuts } from './plain-cuts.js';
import { StructuredString } from './structured-string.js';
import { TextParts, type TextPartsOptions } from './text-parts.js';

/** How files are written in a text that is itself JSON, and in any other. */
const NESTED: SpelledIn = { encoding: 'base64', nested: true };
const PLAIN: SpelledIn = { encoding: 'base64' };

/** A text with cuts of its own. */
export interface MessageText {
  value: SlotValue;
  nested: TextParts;
}

/** What the texts of one message share. */
interface MessageTextsOptions extends Pick<TextPartsOptions, 'owner' | 'account'> {
  /** Decoded size from which a file in a text may be cut; undefined: from `limits.inlineOther` on. */
  nestedFrom: number | undefined;
  /** Opens a cut in a text; undefined when the message has failed. */
  openCut: (value: SlotValue, spelled: SpelledIn) => Cut | undefined;
  /** Forgets the cut that was opened last. */
  withdraw: (cut: Cut) => void;
}

/** Limits that hold when a text begins. */
type TextLimits = Pick<Limits, 'files' | 'inlineOther'> & WeightLimits;

/** The texts of one message that may have files in them: of blocks, and strings of structuredContent. */
export class MessageTexts {
  readonly all: MessageText[] = [];
  readonly #options: MessageTextsOptions;
  /** Strings cut out of texts. Most are put back, so they do not count as files; what texts say is mostly repeated. */
  readonly #opened = { inBlocks: 0, inStructure: 0 };

  constructor(options: MessageTextsOptions) {
    this.#options = options;
  }

  /** @param whole the sink for a text that is a `data:` URI from its beginning */
  open(value: SlotValue, limits: TextLimits, whole: () => SlotSink): SlotSink {
    const { owner, account, openCut, nestedFrom = limits.inlineOther } = this.#options;
    const place = isInStructure(value) ? 'inStructure' : 'inBlocks';
    const mayOpen = () => this.#opened[place] < limits.files;
    const options = { owner, account, limit: nestedFrom, mayOpen };
    const attach = <T extends TextParts>(nested: T): T => {
      value.attachment = nested;
      this.all.push({ value, nested });
      return nested;
    };
    const open = (spelled: SpelledIn) => () => {
      this.#opened[place] += 1;
      return openCut(value, spelled);
    };
    const otherwise = () => attach(new PlainCuts({ ...options, open: open(PLAIN), whole }));
    return attach(new NestedCuts({ ...options, weight: limits, open: open(NESTED), otherwise }));
  }

  /** A string of structuredContent: a file as a whole, or words with files among them. */
  openStructured(value: SlotValue, limits: TextLimits, openCut: () => Cut): SlotSink {
    const { withdraw, nestedFrom = limits.inlineOther } = this.#options;
    return new StructuredString({
      min: Math.ceil(nestedFrom / 3) * 4,
      openCut,
      withdraw,
      openText: () => this.open(value, limits, openCut),
      withdrawText: () => this.#withdraw(value),
    });
  }

  /** Forgets the last text, if nothing has been cut out of it. @returns its bytes */
  #withdraw(value: SlotValue): readonly Buffer[] | undefined {
    const { attachment } = value;
    const words = attachment instanceof TextParts ? attachment.inline : undefined;
    if (!words) return undefined;
    for (let last = this.all.at(-1); last?.value === value; last = this.all.at(-1)) {
      last.nested.drop();
      this.all.pop();
    }
    return words;
  }
}

/** Whether a string, or a part of it, is from structuredContent. */
export function isInStructure({ slot }: Pick<SlotValue, 'slot'>): boolean {
  return slot === STRUCTURED_SLOT;
}

import { toldLines } from './console-layout.js';

/** Why a page cannot show what was asked for. */
export interface Problem {
  /** A sentence. */
  text: string;
  /** The next step, as `wharf explain` says it: names of the config stand between backticks. */
  todo: string | undefined;
}

/** What is wrong and, below it, what to do, in which words between backticks are code. */
export function ProblemText({ text, todo }: Problem) {
  return (
    <div class="problem">
      <p class="said">{toldLines(text, text.length)}</p>
      {todo !== undefined && <p>{todo.split('`').map((piece, at) => (at % 2 === 1 ? <code>{piece}</code> : piece))}</p>}
    </div>
  );
}

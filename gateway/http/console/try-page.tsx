import { prettyJson } from '../../json/pretty.js';
import { textIn } from '../../json/value.js';
import type { ConsoleUser } from '../../ports/console.js';
import { shown } from '../browser/shown.js';
import { ConsoleLayout, mayAct, toldLines } from './console-layout.js';
import { serverPath, toolPath } from './list-pages.js';
import { type Problem, ProblemText } from './problem.js';
import { type Outcome, ResultView } from './result-view.js';
import { titleOf } from './server-page.js';
import { type FormState, TryForm } from './try-form.js';
import { effectOf } from './trying/effect.js';
import type { TriedTool } from './trying/trials.js';

/** Characters of what a tool says about itself. */
const MAX_NAME = 100;
const MAX_ABOUT = 4000;
const MAX_SCHEMA = 50_000;

interface Props extends FormState {
  user: ConsoleUser;
  server: string;
  tool: TriedTool;
  /** What stands above the form: that it has changed, or why a call failed. */
  problem?: string | undefined;
  outcome?: Outcome | undefined;
}

/** A tool with a form made of its arguments, and what came of the last call. */
export function TryPage({ user, server, tool, problem, outcome, ...state }: Props) {
  const { name, declared } = tool;
  const title = titleOf(declared);
  const about = textIn(declared, 'description');
  const schema = prettyJson(declared.inputSchema, MAX_SCHEMA);
  return (
    <ConsoleLayout place="/servers" user={user} below={shown(name, MAX_NAME)}>
      <p class="soft">
        {title !== undefined && (
          <>
            <bdi>{shown(title, MAX_NAME)}</bdi>, a
          </>
        )}
        {title === undefined && 'A'} tool of <a href={serverPath(server)}>{server}</a>
      </p>
      {about !== undefined && <p class="said">{toldLines(about, MAX_ABOUT)}</p>}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {outcome && <ResultView outcome={outcome} />}
      {mayAct(user) ? (
        <>
          <h2>{outcome ? 'Try it again' : 'Try it'}</h2>
          <TryForm action={toolPath(server, name)} effect={effectOf(declared)} {...state} />
        </>
      ) : (
        <p>A viewer sees what the tool takes; only an operator may try it.</p>
      )}
      <details>
        <summary>The schema of its arguments</summary>
        <pre tabindex={0}>{schema.text}</pre>
        {schema.isCut && <p class="soft">It is cut here.</p>}
      </details>
    </ConsoleLayout>
  );
}

/** The page of a tool that cannot be shown. */
export function NoTryPage({
  user,
  server,
  problem,
  isKnown,
}: {
  user: ConsoleUser;
  server: string;
  problem: Problem;
  isKnown: boolean;
}) {
  return (
    <ConsoleLayout place="/servers" user={user} below={server}>
      <ProblemText {...problem} />
      <p>{isKnown ? <a href={serverPath(server)}>The server and its tools</a> : <a href="/servers">All servers</a>}</p>
    </ConsoleLayout>
  );
}

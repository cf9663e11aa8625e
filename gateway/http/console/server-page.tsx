import { isObject, textIn } from '../../json/value.js';
import type { ConsoleUser } from '../../ports/console.js';
import type { JsonObject } from '../../ports/json.js';
import { shown } from '../browser/shown.js';
import { ConsoleLayout, mayAct, toldLines } from './console-layout.js';
import { toolPath } from './list-pages.js';
import { type Problem, ProblemText } from './problem.js';
import type { ToolsFound, TriedTool } from './trying/trials.js';

/** Characters of a name and a description in the list. */
const MAX_NAME = 100;
const MAX_ABOUT = 300;

interface Props {
  user: ConsoleUser;
  server: string;
  /** The server's MCP endpoint. */
  url: string;
  /** Where Wharf finds it. */
  place: string;
  /** Undefined where they cannot be shown. */
  found: ToolsFound | undefined;
  /** Why not. */
  problem: Problem | undefined;
}

/** A server and the tools that it has for the console's user. */
export function ServerPage({ user, server, url, place, found, problem }: Props) {
  return (
    <ConsoleLayout place="/servers" user={user} below={server}>
      <p class="soft">
        Clients: <code>{url}</code>
        <br />
        Wharf finds it at <code>{place}</code>
      </p>
      {problem && <ProblemText {...problem} />}
      {found && (
        <>
          <h2>Tools</h2>
          <p class="soft">
            As this server shows them to you, <code>console:{user.name}</code>, under the rules and limits of any
            caller.
          </p>
          {found.tools.length === 0 && <p class="soft">There is none.</p>}
          <ul class="tools">
            {found.tools.map((tool) => (
              <ToolItem server={server} tool={tool} canAct={mayAct(user)} />
            ))}
          </ul>
          {found.isCut && <p class="soft">There are more, which are not shown.</p>}
        </>
      )}
    </ConsoleLayout>
  );
}

function ToolItem({ server, tool, canAct }: { server: string; tool: TriedTool; canAct: boolean }) {
  const { name, declared, slots } = tool;
  const title = titleOf(declared);
  const called = shown(name, MAX_NAME);
  return (
    <li>
      <div>
        <code>
          <bdi>{called}</bdi>
        </code>
        {title !== undefined && (
          <span class="soft">
            {' '}
            <bdi>{shown(title, MAX_NAME)}</bdi>
          </span>
        )}
        <p class="said">{toldLines(textIn(declared, 'description') ?? '', MAX_ABOUT)}</p>
        {slots.length > 0 && <p class="soft">It takes files.</p>}
      </div>
      <a href={toolPath(server, name)} aria-label={`${canAct ? 'Try it' : 'Look'}: ${called}`}>
        {canAct ? 'Try it' : 'Look'}
      </a>
    </li>
  );
}

/** A tool's title for people, in either of the places where MCP has had it. */
export function titleOf(declared: JsonObject): string | undefined {
  const { annotations } = declared;
  return textIn(declared, 'title') ?? (isObject(annotations) ? textIn(annotations, 'title') : undefined);
}

import { RANGE } from '../../../mcp/ranges.js';
import { elementOf } from '../../../mcp/responses.js';
import { parseJson } from '../../../wire/json/parse.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import type { PendingRequest } from '../../pending-request.js';
import type { Work } from '../work.js';

/** By which a server of the extension says what has become of a task, as JSON text. It has the whole result in it. */
const NOTICE = '"notifications/tasks"';

/**
 * What a server says of tasks by itself in a message, as if their clients had asked for them: the same holds for the results in it.
 * Each has the place of its notification, as an answer has its own, and answers nothing.
 */
export function noticesIn({ captures, malformed }: HeldMessage): Work['notices'] {
  if (malformed || !captures.some(({ name, text }) => name === 'method' && text === NOTICE)) return [];
  const methods = new Map<string, string>();
  const tasks = new Map<string, { base: readonly (string | number)[]; taskId: string }>();
  for (const { name, path, text } of captures) {
    if (name === 'method') methods.set(elementOf(path), text);
    if (name !== RANGE.taskId || !text.startsWith('"')) continue;
    const base = path.slice(0, -2);
    tasks.set(base.join('/'), { base, taskId: parseJson(text) as string });
  }
  return [...tasks].flatMap(([element, { base, taskId }]) =>
    methods.get(element) === NOTICE ? [{ base, id: 'null', request: requestFor(taskId) }] : [],
  );
}

function requestFor(subject: string): PendingRequest {
  return { id: 'null', method: 'tasks/get', subject, params: {}, base: [] };
}

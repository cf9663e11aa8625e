import { own } from '../../json/value.js';
import { toolOf } from '../tools/declared-results.js';
import { viewOf } from '../upstream/view.js';
import type { Work } from './work.js';

/**
 * True when code reads every answer of a message, and no model: a page of the server's, which its client's host shows, or the
 * host itself, which reads such a page. Files then stay where they are, unless the operator has said where a tool has some.
 */
export async function isForPages({ answers, deps, to }: Work): Promise<boolean> {
  const { principal, client, inquire } = to;
  const pages = deps.dialects.flatMap((dialect) => dialect.pages ?? []).filter(({ shownBy }) => shownBy(client));
  if (pages.length === 0 || answers.length === 0) return false;
  const view = viewOf(client.protocolVersion, principal);
  for (const { request } of answers) {
    const { method, subject = '' } = request ?? {};
    if (method === 'resources/read' && pages.some(({ isPage }) => isPage(subject))) continue;
    const tool = toolOf(request);
    if (tool === undefined || own(deps.settings, tool)?.results.files.length) return false;
    if (!(await deps.catalog.tool(view, tool, inquire))?.isForPages) return false;
  }
  return true;
}

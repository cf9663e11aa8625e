import type { UploadTool } from '../../ports/file-slot.js';
import { type LinkToolDeps, linkTool } from './link-tool.js';
import type { LocalTool } from './local-tools.js';
import { type RequestToolDeps, requestTool } from './request-tool.js';

/** The tools that Wharf adds to a server whose tools take files. */
export function uploadTools(names: UploadTool | 'off', deps: RequestToolDeps & LinkToolDeps): LocalTool[] {
  return names === 'off' ? [] : [requestTool(names.request, deps), linkTool(names.link, deps)];
}

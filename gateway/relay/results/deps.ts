import type { ToolDeps } from '../tools/deps.js';
import type { OutgoingFileDeps } from './outgoing-files.js';
import type { TaskTools } from './tool/tool-of-task.js';

/** What the stages for files in an answer need. */
export interface ResultDeps extends ToolDeps {
  files: OutgoingFileDeps;
  taskTools: TaskTools;
}

import type { ToolDeps } from '../tools/deps.js';
import type { OutgoingFileDeps } from './outgoing-files.js';
import type { TaskTools } from './tool-of-task.js';

/** What files in an answer are read and written with. */
export interface ResultDeps extends ToolDeps {
  files: OutgoingFileDeps;
  taskTools: TaskTools;
}

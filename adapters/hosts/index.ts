import type { HostProfile } from '../../gateway/ports/host.js';
import { profiles as vscode } from './vscode.js';

/** Every known host, each generation before the next newer one. */
export const hosts: readonly HostProfile[] = [...vscode];

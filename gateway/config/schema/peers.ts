import { z } from 'zod';
import type { UploadTool } from '../../ports/file-slot.js';

/**
 * A tool name that every host lets a model call: some refuse dots and slashes, and none allows more than 64 characters.
 */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export const toolName = () => z.string().regex(TOOL_NAME, { error: 'must be 1 to 64 of A-Z, a-z, 0-9, "_" and "-"' });

const DEFAULT_NAMES: Readonly<UploadTool> = { request: 'request_file_upload', link: 'get_file_link' };

const off = z.literal('off');
const EITHER = { error: 'must be off, or a map with "request" and "link"' };
const REQUEST = 'Name of the tool that starts an upload: it returns a URL, a curl command and a handle.';
const LINK = "Name of the tool that issues a fresh link for a file's handle.";

/** `uploadTool` */
export function uploadToolSchema() {
  const names = z.strictObject({
    request: toolName().default(DEFAULT_NAMES.request).describe(REQUEST),
    link: toolName().default(DEFAULT_NAMES.link).describe(LINK),
  });
  return z.union([off, names], EITHER);
}

/** `servers.X.uploadTool`: omitted names come from the top level. */
export function serverUploadToolSchema() {
  const names = z.strictObject({
    request: toolName().optional().describe(REQUEST),
    link: toolName().optional().describe(LINK),
  });
  return z.union([off, names], EITHER);
}

/** The names of Wharf's tools on a server: its own setting, otherwise that of the top level. */
export function uploadToolOf(
  own: Partial<UploadTool> | 'off' | undefined,
  global: UploadTool | 'off',
): UploadTool | 'off' {
  if (own === undefined || own === 'off') return own ?? global;
  const base = global === 'off' ? DEFAULT_NAMES : global;
  return { request: own.request ?? base.request, link: own.link ?? base.link };
}

/** `handoff` */
export function handoffSchema() {
  const server = z.string().min(1);
  const rule = z.strictObject({
    from: server.describe('Name of the server whose tool returned the file, or `"*"` for any.'),
    to: server.describe('Name of the server whose tool would receive it, or `"*"` for any.'),
    allow: z.boolean().describe('Whether this is allowed.'),
  });
  return z.array(rule).max(1000);
}

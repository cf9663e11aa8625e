import { z } from 'zod';
import type { UploadTool } from '../../ports/file-slot.js';
import type { AdapterList } from '../adapter-list.js';

/** What every host lets a model call: some take no dots and slashes, and none takes more than 64 characters. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

const toolName = () => z.string().regex(TOOL_NAME, { error: 'must be 1 to 64 of A-Z, a-z, 0-9, "_" and "-"' });

const DEFAULT_NAMES: Readonly<UploadTool> = { request: 'request_file_upload', link: 'get_file_link' };

const off = z.literal('off');
const EITHER = { error: 'must be off, or a map with "request" and "link"' };
const REQUEST = 'Name of the tool that asks for an upload: it answers with a URL, a curl line and a handle.';
const LINK = "Name of the tool that gives a fresh link to a file's handle.";

/** `uploadTool` */
export function uploadToolSchema() {
  const names = z.strictObject({
    request: toolName().default(DEFAULT_NAMES.request).describe(REQUEST),
    link: toolName().default(DEFAULT_NAMES.link).describe(LINK),
  });
  return z.union([off, names], EITHER);
}

/** `servers.X.uploadTool`: what is left out is the top level's. */
export function serverUploadToolSchema() {
  const names = z.strictObject({
    request: toolName().optional().describe(REQUEST),
    link: toolName().optional().describe(LINK),
  });
  return z.union([off, names], EITHER);
}

/** What a server's tools are called: its own names, where it gives any, else the top level's. */
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
    from: server.describe('Name of the server whose tool gave the file, or `"*"` for any.'),
    to: server.describe('Name of the server whose tool is given it, or `"*"` for any.'),
    allow: z.boolean().describe('Whether it may be.'),
  });
  return z.array(rule).max(1000);
}

/** `clients` */
export function clientsSchema(dialects: AdapterList['dialects']) {
  const match = z
    .strictObject({
      name: z
        .string()
        .min(1)
        .max(256)
        .optional()
        .describe('The `clientInfo.name` that a client sends, in which `*` stands for anything: `codex-*`.'),
      principal: z
        .string()
        .min(1)
        .max(256)
        .optional()
        .describe('The name of the caller, which is the name of its key in `auth.keys`.'),
    })
    .refine((by) => by.name !== undefined || by.principal !== undefined, {
      error: 'must hold "name" or "principal", or both',
    });
  const profile = z.strictObject({
    match: match.describe('Whom the entry is about. One of the two, or both; then both must fit.'),
    dialects: z
      .array(z.enum(dialects.map(({ name }) => name) as [string, ...string[]]))
      .min(1, { error: 'must name at least one dialect' })
      .describe(
        `What such a client speaks although it does not declare it. ${dialects.map(({ name, about }) => `\`${name}\`: ${about}`).join(' ')}`,
      ),
  });
  return z.array(profile).max(1000);
}

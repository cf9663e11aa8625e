import { z } from 'zod';
import { FLOW_EFFECTS, type FlowEffect, type FlowMatch } from '../../policy/flow.js';
import type { UploadTool } from '../../ports/file-slot.js';
import { callerMembers } from './access.js';
import { mediaTypes, size } from './fields.js';

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

const LARGEST = 2 ** 50;

/** `flow` */
export function flowSchema() {
  const match = z.strictObject({
    from: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe(
        'Name of the server whose file it is, `*` matches any text. Left out, the rule also means files that no server has given.',
      ),
    to: z.string().min(1).max(64).optional().describe('Name of the server that would get it; `*` matches any text.'),
    types: mediaTypes()
      .optional()
      .describe('Media types of the file: `application/pdf`, `image/*`, `text/csv`. Default: every type.'),
    over: size({ min: 0, max: LARGEST }).optional().describe('Only files larger than this.'),
    ...callerMembers(),
  });
  const one = z.union(
    FLOW_EFFECTS.map((does) => z.strictObject({ [does]: match.describe(EFFECTS[does]) })) as unknown as [
      z.ZodObject,
      z.ZodObject,
      z.ZodObject,
    ],
    { error: 'must be a map with one of deny, ask and allow, such as deny: { from: hr, to: web }' },
  );
  return z
    .array(one)
    .max(1000)
    .transform((rules) =>
      rules.map((rule, index) => {
        const [[does, about] = ['deny', {}]] = Object.entries(rule) as [FlowEffect, FlowMatch][];
        return { ...about, does, place: `flow[${index}]` };
      }),
    );
}

const EFFECTS: Readonly<Record<FlowEffect, string>> = {
  deny: 'The file is refused.',
  ask: 'The user is asked by a form; a client that cannot be asked is refused.',
  allow: 'The file may go; for exceptions from later rules.',
};

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

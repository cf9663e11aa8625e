import { z } from 'zod';

/** Longest pattern of names. */
const LONGEST = 256;

const pattern = () => z.string().min(1).max(LONGEST);

/** A list of patterns; an empty one would be mistaken for "no rule". */
export function patterns() {
  return z.array(pattern()).min(1, { error: 'must not be empty; left out, everything is meant' }).max(1000);
}

/** Patterns `SERVER.TOOL`, as in `auth.keys[].tools`. */
export function toolPatterns() {
  return z
    .array(
      pattern().regex(/^!?[a-z0-9*-]{1,64}\..+$/s, {
        error: 'must be SERVER.TOOL, such as hr.read_* or *.search; "!" before it takes tools away',
      }),
    )
    .min(1, { error: 'must not be empty; left out, every tool is meant' })
    .max(1000);
}

/** The members of a rule that say which callers it means. */
export const callerMembers = () => ({
  key: pattern().optional().describe('The name of the API key, as in `auth.keys`; `*` matches any text.'),
  principal: pattern().optional().describe('The principal of the caller; `*` matches any text.'),
  group: pattern().optional().describe('A group of the caller, from its token; `*` matches any text.'),
  claim: z
    .record(z.string().min(1).max(LONGEST), z.union([z.string().max(LONGEST), z.number(), z.boolean()]))
    .optional()
    .describe('Claims of its token, each with the value that it must have, or contain if it is a list.'),
});

/** `servers.X.allow` */
export function allowSchema() {
  const entry = z.strictObject({
    ...callerMembers(),
    tools: patterns()
      .optional()
      .describe(
        "The tools that these callers may use, by the server's own names: `read_*`. A pattern that begins with `!` takes " +
          'away what one before it gave; a list of nothing else begins with all tools. Default: every tool.',
      ),
  });
  return z.array(entry).max(1000);
}

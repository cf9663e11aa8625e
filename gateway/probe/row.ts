import type { Codes, Place } from './codes.js';
import { PROBES, type ProbeName } from './results.js';

/** What is known when the model reports. */
interface Seen {
  client: { name: string; version: string };
  codes: Codes;
  /** Every code that the model names. */
  named: ReadonlySet<string>;
  /** The tools that were called. */
  called: ReadonlySet<ProbeName>;
  /** A host that has put the blob into a file says so in the result. */
  blobWasSaved: boolean;
  /** What the user sees, if the model has asked. */
  user: string | undefined;
  /** Day of the report: `2026-11-22`. */
  day: string;
}

/** What of the host's behaviour follows from the codes; `unknown` where a tool was not called. */
export function rowOf(seen: Seen): Record<string, unknown> {
  const { client, codes, called, named } = seen;
  const source = `wharf probe, ${seen.day}, ${client.name} ${client.version}`;
  const known = (is: unknown) => ({ is, source });
  const behaviour: Record<string, unknown> = {
    structured: known(structuredOf(seen)),
    images: known({ reach: saw(seen, 'probe_picture', 'picture', ['model', 'nothing']) }),
    links: known(linksOf(seen)),
    blobs: known(blobsOf(seen)),
    errors: known(errorsOf(seen)),
    ...textOf(seen, known),
    ...(seen.user !== undefined && { user: known(seen.user) }),
  };
  const given = new Set([
    ...Object.values(codes).filter((code) => typeof code === 'string'),
    ...codes.long.map(({ code }) => code),
  ]);
  return {
    name: client.name,
    match: { names: [client.name], versions: client.version },
    behaviour,
    also: {
      text: saw(seen, 'probe_text', 'text', ['shown', 'dropped']),
      resource: saw(seen, 'probe_resource', 'resourceText', ['shown', 'dropped']),
      textForUser: saw(seen, 'probe_audience', 'forUser', ['shown', 'dropped']),
      textForAssistant: saw(seen, 'probe_audience', 'forAssistant', ['shown', 'dropped']),
    },
    notCalled: (Object.keys(PROBES) as ProbeName[]).filter((name) => !called.has(name)),
    notOurs: [...named].filter((code) => !given.has(code)),
  };
}

function has({ named, codes }: Seen, place: Place): boolean {
  return named.has(codes[place]);
}

function saw(seen: Seen, tool: ProbeName, place: Place, [yes, no]: readonly [string, string]): string {
  if (!seen.called.has(tool)) return 'unknown';
  return has(seen, place) ? yes : no;
}

function structuredOf(seen: Seen): string {
  const [text, json, picture] = [has(seen, 'besideText'), has(seen, 'besideJson'), has(seen, 'besidePicture')];
  if (!seen.called.has('probe_structured')) return 'unknown';
  if (text) return json ? 'both' : 'content';
  if (!json) return 'unknown';
  return picture ? 'without-text' : 'without-content';
}

function linksOf(seen: Seen): string {
  if (!seen.called.has('probe_link')) return 'unknown';
  if (has(seen, 'linkContent')) return 'read';
  if (has(seen, 'linkMeta')) return 'json';
  return has(seen, 'linkAddress') ? 'text' : 'dropped';
}

function blobsOf(seen: Seen): string {
  if (!seen.called.has('probe_blob')) return 'unknown';
  if (has(seen, 'blobBase64')) return 'json';
  if (seen.blobWasSaved) return 'saved';
  if (has(seen, 'blobContent')) return 'shown';
  return has(seen, 'blobAddress') ? 'named' : 'dropped';
}

function errorsOf(seen: Seen): string {
  if (!seen.called.has('probe_error')) return 'unknown';
  if (has(seen, 'errorBase64')) return 'string';
  if (has(seen, 'errorPicture')) return 'content';
  return has(seen, 'errorText') ? 'text' : 'unknown';
}

/** The longest text that is whole lies between the last code before a gap and the first one in it. */
function textOf({ called, codes, named }: Seen, known: (is: unknown) => unknown): Record<string, unknown> {
  if (!called.has('probe_long')) return {};
  const gap = codes.long.findIndex(({ code }) => !named.has(code));
  if (gap === -1) return {};
  const least = codes.long[gap - 1]?.at ?? 0;
  return { text: known({ most: least, unit: 'characters', per: 'block', under: codes.long[gap]?.at }) };
}

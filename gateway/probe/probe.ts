import { ERAS } from '../mcp/era.js';
import { makeCodes } from './codes.js';
import { isIdentifier, type Reply, replyTo } from './envelope.js';
import { linkUri, PROBES, type ProbeName, RESULTS, STRUCTURED_SCHEMA } from './results.js';
import { rowOf } from './row.js';

/** Revisions of MCP that open a session and have all that the results hold. */
const VERSIONS = ERAS.filter(({ hasSessions, hasResourceLinks }) => hasSessions && hasResourceLinks).map(
  (era) => era.version,
);

/** Most codes that a report may name, and the length of each. */
const MAX_NAMED = 200;
const MAX_LENGTH = 100;

const MISSING_METHOD = -32601;
const INVALID_PARAMS = -32602;
const MISSING_RESOURCE = -32002;

/** What people see of a result, in the words of host profiles. */
const USER = ['blocks', 'text', 'answer'] as const;

const HOW =
  `First call each of ${Object.keys(PROBES).join(', ')} once. Then call probe_report with every code in what ` +
  'you were shown: four capital letters and four digits (ABCD1234), or eight digits in a picture. Also look for codes in ' +
  'long unreadable strings. Use no other tools, open no file and no address, and never guess.';

const REPORT = {
  name: 'probe_report',
  description: `Says what this host shows to its model. ${HOW}`,
  inputSchema: {
    type: 'object',
    properties: {
      codes: { type: 'array', items: { type: 'string' }, description: 'Every code that you have seen.' },
      blobWasSaved: {
        type: 'boolean',
        description: 'True if the result of probe_blob named a file on disk into which the host has put it.',
      },
      userSees: {
        type: 'string',
        enum: USER,
        description:
          'What your user sees of these results without asking for more, if they tell you: every block with its pictures ' +
          '(blocks), only text (text), or nothing but your answers (answer).',
      },
    },
    required: ['codes'],
  },
};

/** An MCP server in front of one client, whose results hold codes. It learns what of them reaches the client's model. */
export class Probe {
  readonly #codes = makeCodes();
  readonly #called = new Set<ProbeName>();
  readonly #now: () => number;
  readonly #reported: (row: string) => void;
  #client = { name: 'unknown', version: 'unknown' };

  /** @param reported called with the row of each report, as JSON */
  constructor(now: () => number, reported: (row: string) => void) {
    this.#now = now;
    this.#reported = reported;
  }

  /** The answer to one message; undefined to what needs none. */
  answer(message: unknown): Reply | undefined {
    const { id, method, params } = (message ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
    if (!isIdentifier(id) || typeof method !== 'string') return undefined;
    return replyTo(id, this.#handle(method, (params ?? {}) as Record<string, unknown>));
  }

  #handle(method: string, params: Record<string, unknown>): { result: unknown } | { code: number; text: string } {
    switch (method) {
      case 'initialize':
        return { result: this.#initialize(params) };
      case 'ping':
        return { result: {} };
      case 'tools/list':
        return { result: { tools: this.#tools() } };
      case 'tools/call':
        return this.#call(params);
      case 'resources/list':
        return { result: { resources: [] } };
      case 'resources/read': {
        if (params.uri !== linkUri(this.#codes)) return { code: MISSING_RESOURCE, text: 'There is no such resource.' };
        const text = `The code is ${this.#codes.linkContent}.`;
        return { result: { contents: [{ uri: params.uri, mimeType: 'text/plain', text }] } };
      }
      default:
        return { code: MISSING_METHOD, text: `The method ${method.slice(0, MAX_LENGTH)} is not known here.` };
    }
  }

  #initialize({ clientInfo, protocolVersion }: Record<string, unknown>): unknown {
    const { name, version } = (clientInfo ?? {}) as Record<string, unknown>;
    this.#client = { name: shortened(name), version: shortened(version) };
    const chosen = VERSIONS.find((known) => known === protocolVersion) ?? VERSIONS.at(-1);
    return {
      protocolVersion: chosen,
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: 'wharf-probe', version: '1' },
      instructions: HOW,
    };
  }

  #tools(): unknown[] {
    const probes = Object.entries(PROBES).map(([name, what]) => ({
      name,
      description: `Returns ${what}. ${HOW}`,
      inputSchema: { type: 'object', properties: {} },
      ...(name === 'probe_structured' && { outputSchema: STRUCTURED_SCHEMA }),
    }));
    return [...probes, REPORT];
  }

  #call({ name, arguments: given }: Record<string, unknown>): { result: unknown } | { code: number; text: string } {
    if (isProbe(name)) {
      this.#called.add(name);
      return { result: RESULTS[name](this.#codes) };
    }
    if (name !== REPORT.name) return { code: INVALID_PARAMS, text: 'There is no such tool.' };
    const { codes, blobWasSaved, userSees } = (given ?? {}) as Record<string, unknown>;
    if (!Array.isArray(codes)) return { code: INVALID_PARAMS, text: '"codes" must be a list of strings.' };
    const row = rowOf({
      client: this.#client,
      codes: this.#codes,
      named: new Set(codes.slice(0, MAX_NAMED).map((code) => shortened(code).toUpperCase())),
      called: this.#called,
      blobWasSaved: blobWasSaved === true,
      user: USER.find((word) => word === userSees),
      day: new Date(this.#now()).toISOString().slice(0, 10),
    });
    const written = JSON.stringify(row, null, 2);
    this.#reported(written);
    return { result: { content: [{ type: 'text', text: written }] } };
  }
}

function isProbe(name: unknown): name is ProbeName {
  return typeof name === 'string' && Object.hasOwn(PROBES, name);
}

function shortened(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, MAX_LENGTH) : 'unknown';
}

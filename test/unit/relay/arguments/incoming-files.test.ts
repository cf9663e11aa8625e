import { describe, expect, it } from '@jest/globals';
import { create as noAudit } from '../../../../adapters/audit/none.js';
import type { FileRecord } from '../../../../gateway/files/file.js';
import type { Consents } from '../../../../gateway/files/flow/consents.js';
import { Flow } from '../../../../gateway/files/flow/flow.js';
import type { Origins } from '../../../../gateway/files/flow/origins.js';
import type { Library, Resolved } from '../../../../gateway/files/library.js';
import type { ShortFiles } from '../../../../gateway/files/stored/short-files.js';
import { rulesOfHandoff } from '../../../../gateway/policy/flow.js';
import { IncomingFiles } from '../../../../gateway/relay/arguments/incoming-files.js';
import type { SlotRules } from '../../../../gateway/relay/arguments/refused-file.js';

const URI = 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA';

const RULES: SlotRules = {
  slot: { path: ['file'], declaredBy: 'config', companions: {}, deliveries: [{ kind: 'encoded', encoding: 'base64' }] },
  tool: 'take',
  argument: 'file',
  maxSize: { bytes: 1000, limit: 'limits.file' },
  maxInline: 1000,
};

function recordOf(server: string | undefined): FileRecord {
  return {
    id: 'f_AAAAAAAAAAAAAAAAAAAAAA',
    principal: 'ann',
    ...(server !== undefined && { server }),
    name: 'a.txt',
    mimeType: 'text/plain',
    size: 3,
    digest: 'x',
    key: 'f/x',
    createdAt: 0,
  };
}

/** Files on their way to `evil`, to which the bank's may not go. */
function toEvil(found: Resolved): IncomingFiles {
  const library = { resolve: async () => found } as unknown as Library;
  const fetch = () => Promise.reject(new Error('not here'));
  const rules = rulesOfHandoff([{ from: 'bank', to: 'evil', allow: false }]);
  const origins = { of: async () => new Map() } as unknown as Origins;
  const flow = new Flow(rules, origins, {} as Consents);
  const who = { principal: 'ann', use: 'none', groups: [], scopes: [] } as const;
  const owner = { principal: 'ann', server: 'evil', who, by: {} };
  const shortFiles = { look: () => undefined } as unknown as ShortFiles;
  const uses = { use: () => undefined };
  const deps = { library, shortFiles, uses, fetch, flow, antivirus: undefined, audit: noAudit({}), accept: undefined };
  return new IncomingFiles(deps, owner, new AbortController().signal);
}

const open = (found: Resolved) => toEvil(found).open({ kind: 'handle', uri: URI }, RULES);

/** A handle that `server` has announced, behind which is a file of `of`. */
function lazy(server: string, of: string): { found: Resolved; reads: () => number } {
  let reads = 0;
  const read = async () => {
    reads += 1;
    return recordOf(of);
  };
  return { found: { kind: 'lazy', server, read }, reads: () => reads };
}

describe('a file that a rule keeps from a server', () => {
  const denied = { code: 'file_refused', facts: { reason: 'handoffDenied' } };

  it('is refused', async () => {
    await expect(open({ kind: 'ready', record: recordOf('bank') })).rejects.toMatchObject(denied);
    expect(await open({ kind: 'ready', record: recordOf('docs') })).toMatchObject({ origin: 'handoff' });
    expect(await open({ kind: 'ready', record: recordOf(undefined) })).toMatchObject({ origin: 'uploaded' });
  });

  it('is not read first where it would have to be', async () => {
    const { found, reads } = lazy('bank', 'bank');
    await expect(open(found)).rejects.toMatchObject(denied);
    expect(reads()).toBe(0);
  });

  it('is judged again once it has been read, by whose it is then', async () => {
    await expect(open(lazy('docs', 'bank').found)).rejects.toMatchObject(denied);
    expect(await open(lazy('docs', 'docs').found)).toMatchObject({ origin: 'handoff' });
  });
});

describe('a file for an argument that also accepts endings of names', () => {
  const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  const opened = (accept: string[], facts: Partial<FileRecord>) => {
    const found: Resolved = { kind: 'ready', record: { ...recordOf(undefined), ...facts } };
    return toEvil(found).open({ kind: 'handle', uri: URI }, { ...RULES, slot: { ...RULES.slot, accept } });
  };

  it.each<[string[], Partial<FileRecord>]>([
    [['image/png', '.docx'], { mimeType: DOCX, name: 'upload-1.docx' }],
    [['image/png', '.docx'], { mimeType: DOCX, name: 'letter' }],
    [['image/png', ' .LOG '], { mimeType: 'text/plain', name: 'a.log' }],
    [['image/png', '.step'], { mimeType: 'application/octet-stream', name: 'part.step' }],
  ])('is taken where an upload of it was: %j, %j', async (accept, facts) => {
    expect(await opened(accept, facts)).toMatchObject({ via: 'upload' });
  });

  it.each<[string[], Partial<FileRecord>]>([
    [['image/png', '.docx'], { mimeType: 'application/pdf', name: 'letter.docx' }],
    [['image/png', '.docx'], { mimeType: 'text/plain', name: 'letter.txt' }],
    [['image/png', '.step'], { mimeType: 'application/octet-stream', name: 'part.stl' }],
  ])('is refused where an upload of it is: %j, %j', async (accept, facts) => {
    await expect(opened(accept, facts)).rejects.toMatchObject({ facts: { reason: 'mimeTypeNotAccepted' } });
  });
});

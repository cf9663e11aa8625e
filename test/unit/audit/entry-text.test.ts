import { describe, expect, it } from '@jest/globals';
import { newChain, nextLine, readLine } from '../../../gateway/audit/chain.js';
import { entryMembers } from '../../../gateway/audit/entry-text.js';
import type { AuditEntry } from '../../../gateway/ports/audit.js';

const NAME = 'read\u009b2J\u202e\u2028\u0007';
const ENTRY: AuditEntry = { what: 'call', allowed: true, principal: 'p\u009c', client: NAME, server: 's', tool: NAME };

describe('a line of the audit log', () => {
  it('has nothing that a terminal obeys, and says the same', () => {
    const members = entryMembers(ENTRY, 0);
    expect(members).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
    expect(JSON.parse(`{${members}}`)).toEqual({ time: '1970-01-01T00:00:00.000Z', ...ENTRY });
  });

  it('is verified as it is written', () => {
    const { line, end } = nextLine(newChain(), entryMembers(ENTRY, 0));
    expect(readLine(line)?.hash).toBe(end.hash);
  });
});

import { describe, expect, it } from '@jest/globals';
import { AuditPage } from '../../../gateway/http/console/audit-page.js';
import { FilesPage } from '../../../gateway/http/console/files-page.js';
import { RefusalsPage } from '../../../gateway/http/console/refusals-page.js';
import { ServerPage } from '../../../gateway/http/console/server-page.js';
import { TryPage } from '../../../gateway/http/console/try-page.js';
import { formOf } from '../../../gateway/http/console/trying/tool-form.js';
import { LoginPage } from '../../../gateway/http/pages/login-pages.js';

/** Turns around what stands behind it, and hides. */
const TURNED = 'x\u202e\u200b';
const USER = { name: 'ann', role: 'viewer', digest: Buffer.alloc(32) } as const;

/** The text of a page that a person sees, without its marks. */
const textOf = (page: { toString(): string }) => page.toString();

describe('a name that a peer has chosen, in the console', () => {
  it('hides nothing and turns nothing around in the audit log', () => {
    const line = {
      ...{ time: '2026-11-26T10:00:00.000Z', what: 'login', allowed: false, client: TURNED, address: '192.0.2.1' },
      ...{ tool: TURNED, token: { issuer: 'https://idp.example', client: TURNED, id: 'one', claimed: true } },
    };
    const found = { lines: [line], looked: 1, next: undefined } as never;
    const page = textOf(AuditPage({ user: USER, written: {}, servers: [], found, next: undefined, csv: '/audit.csv' }));
    expect(page).not.toMatch(/[\u202e\u200b]/);
    expect(page.match(/<bdi>x\ufffd<\/bdi>/g)).toHaveLength(3);
    expect(page).toContain('192.0.2.1');
  });

  it('nor among the refusals', () => {
    const refused = {
      at: 0,
      times: 1,
      since: 0,
      server: 'hr',
      principal: 'ada',
      client: TURNED,
      name: TURNED,
      code: 'tool_unknown',
    };
    const page = textOf(RefusalsPage({ user: USER, lately: [refused] }));
    expect(page).not.toMatch(/[\u202e\u200b]/);
  });

  it('which say which place in the config refused', () => {
    const refused = { at: 0, times: 1, since: 0, principal: 'ada', code: 'rate_limited' };
    const limit = 'limits.requestsPerMinute';
    const lately = [
      { ...refused, limit, rule: 'servers.hr.tools.echo.limits.requestsPerMinute', allowed: 3, actual: 4 },
      { ...refused, limit, rule: limit, allowed: 3, actual: 5 },
      { ...refused, code: 'tool_unknown', rule: 'servers.hr.allow' },
    ];
    const page = textOf(RefusalsPage({ user: USER, lately }));
    expect([...page.matchAll(/by <bdi>(.*?)<\/bdi>/g)].map(([, place]) => place)).toEqual([
      'servers.hr.tools.echo.limits.requestsPerMinute',
      'servers.hr.allow',
    ]);
  });
});

describe('the tool that has given a file, in the console', () => {
  it('hides nothing, turns nothing around, and has an end', () => {
    const file = { id: 'f_1', name: 'a.png', size: 1, mimeType: 'image/png', principal: 'ada', createdAt: 0 };
    const files = [TURNED, 'long'.repeat(10_000)].map((tool) => ({ ...file, server: 'hr', tool }));
    const page = textOf(FilesPage({ user: USER, filter: {}, found: { files } as never, query: '', next: undefined }));
    expect(page).not.toMatch(/[\u202e\u200b]/);
    expect(page).toContain('hr.<bdi>x\ufffd</bdi>');
    expect(page.length).toBeLessThan(15_000);
  });
});

describe('what a server says of its tools, in the console', () => {
  const schema = {
    type: 'object',
    properties: { [TURNED]: { type: 'string', title: TURNED, description: TURNED, format: TURNED } },
  };
  const declared = { name: TURNED, title: TURNED, description: `${TURNED}\nsecond`, inputSchema: schema };
  const tool = { name: TURNED, declared, slots: [] } as never;

  it('hides nothing and turns nothing around in their list', () => {
    const found = { tools: [tool], isCut: false } as never;
    const page = textOf(
      ServerPage({ user: USER, server: 'hr', url: 'https://x', place: 'x', found, problem: undefined }),
    );
    expect(page).not.toMatch(/[\u202e\u200b]/);
    expect(page).toContain('<p class="said">x\ufffd\nsecond</p>');
  });

  it('nor on the page of one', () => {
    const state = { form: formOf(tool), values: new Map(), others: '', problems: new Map() };
    const user = { ...USER, role: 'operator' } as const;
    const page = textOf(TryPage({ user, server: 'hr', tool, ...state }));
    // the schema itself is shown as it is
    expect(page.replace(/<pre.*?<\/pre>/s, '')).not.toMatch(/[\u202e\u200b]/);
  });
});

describe('the page of a login', () => {
  it('names the caller to the end, behind a long issuer', () => {
    const principal = `https://idp.example/${'realm/'.repeat(20)}|ada@example.com`;
    const page = textOf(LoginPage({ server: 'crm', principal, url: 'https://idp.example' }));
    expect(page).toContain(`${principal}</b>`);
  });
});

it('says on which day a request was refused, which may be long ago', () => {
  const at = Date.UTC(2026, 10, 22, 21, 4, 9);
  const refused = { at, times: 1, since: at, server: 'hr', principal: 'ada', code: 'tool_unknown' };
  expect(textOf(RefusalsPage({ user: USER, lately: [refused] }))).toContain('2026-11-22 21:04:09 UTC');
});

import { describe, expect, it } from '@jest/globals';
import {
  ASSUMED_ERA,
  ERAS,
  eraOf,
  eraOfMessage,
  NEWEST,
  NEWEST_WITH_SESSIONS,
  namesStateless,
  OWN_VERSION,
  STATELESS_VERSIONS,
} from '../../../gateway/mcp/era.js';

const ABILITIES = [
  'hasSessions',
  'describesClient',
  'repeatsInHeaders',
  'completesResults',
  'hasCacheFields',
  'hasToolAnnotations',
  'hasTitles',
  'hasToolMeta',
  'hasStructuredContent',
  'hasResourceLinks',
  'hasExtensionCodes',
  'hasUrlElicitation',
] as const;

const BASE = ['hasSessions', 'hasExtensionCodes'];
const MARCH_2025 = [...BASE, 'hasToolAnnotations'];
const JUNE_2025 = [...MARCH_2025, 'hasTitles', 'hasToolMeta', 'hasStructuredContent', 'hasResourceLinks'];
const NOVEMBER_2025 = [...JUNE_2025, 'hasUrlElicitation'];
const JULY_2026 = [
  'hasUrlElicitation',
  'hasToolAnnotations',
  'hasTitles',
  'hasToolMeta',
  'hasStructuredContent',
  'hasResourceLinks',
  'describesClient',
  'repeatsInHeaders',
  'completesResults',
  'hasCacheFields',
];

const NONE = {};
const OWN_STATUSES = { '-32601': 404, '-32020': 400, '-32021': 400, '-32022': 400 };

describe('the revisions of MCP', () => {
  it.each([
    ['2024-10-07', BASE, -32002, NONE],
    ['2024-11-05', BASE, -32002, NONE],
    ['2025-03-26', MARCH_2025, -32002, NONE],
    ['2025-06-18', JUNE_2025, -32002, NONE],
    ['2025-11-25', NOVEMBER_2025, -32002, NONE],
    ['2026-07-28', JULY_2026, -32602, OWN_STATUSES],
  ] as const)('%s has what it has, and nothing else', (version, abilities, missingResourceCode, statuses) => {
    const era = eraOf(version);
    expect(era.version).toBe(version);
    expect(ABILITIES.filter((ability) => era[ability]).sort()).toEqual([...abilities].sort());
    expect(era.missingResourceCode).toBe(missingResourceCode);
    expect(Object.fromEntries(era.statusOfError)).toEqual(statuses);
  });

  it('are all in this table, the oldest first', () => {
    const versions = ERAS.map(({ version }) => version);
    expect(versions).toEqual([...versions].sort());
    expect(versions).toHaveLength(6);
    const questions = Object.keys(NEWEST).filter((key) => typeof NEWEST[key as keyof typeof NEWEST] === 'boolean');
    expect(questions.sort()).toEqual([...ABILITIES].sort());
  });

  it('have names for those that Wharf itself speaks', () => {
    expect(ASSUMED_ERA.version).toBe('2025-03-26');
    expect(OWN_VERSION).toBe('2025-06-18');
    expect(NEWEST_WITH_SESSIONS.version).toBe('2025-11-25');
    expect(NEWEST.version).toBe('2026-07-28');
    expect(STATELESS_VERSIONS).toEqual(['2026-07-28']);
  });
});

describe('a version that a peer names', () => {
  it.each([
    ['2025-06-18', '2025-06-18'],
    ['2025-07-01', '2025-06-18'],
    ['2099-01-01', '2025-11-25'],
    ['2020-01-01', '2025-03-26'],
    ['draft', '2025-03-26'],
    ['', '2025-03-26'],
    ['2026-07-28', '2026-07-28'],
    ['2026-07-28 ', '2025-03-26'],
  ])('%j has the rules of %s', (named, version) => {
    expect(eraOf(named).version).toBe(version);
  });

  it.each([
    ['2026-07-28', true],
    ['2027-01-01', true],
    ['2025-11-25', false],
    [undefined, false],
    [['2026-07-28'], false],
  ])('%j is one without sessions: %s', (named, expected) => {
    expect(namesStateless(named)).toBe(expected);
  });

  it('in the message itself has no session, known or not; a message without one has', () => {
    expect(eraOfMessage('2026-07-28').version).toBe('2026-07-28');
    expect(eraOfMessage('2027-01-01').hasSessions).toBe(false);
    expect(eraOfMessage(undefined).hasSessions).toBe(true);
  });
});

describe('a message of a session', () => {
  const asked = ['hasSessions', 'describesClient', 'repeatsInHeaders', 'completesResults', 'statusOfError'] as const;

  it.each(ERAS.filter(({ hasSessions }) => hasSessions).map((era) => [era.version, era] as const))(
    'is answered the same whether it is of %s or another revision with sessions',
    (_version, era) => {
      for (const question of asked) expect(era[question]).toEqual(eraOfMessage(undefined)[question]);
    },
  );
});

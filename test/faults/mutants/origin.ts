import type { Mutant } from './mutant.js';

const HEADERS = 'gateway/mcp/headers.ts';
const RESPONSE = 'gateway/http/response.ts';
const BROWSER = 'gateway/http/origin/browser-request.ts';
const GUARD = 'gateway/http/origin/guard.ts';
const ANSWERS = { suites: ['e2e/protocol/answers'], tests: 'an upstream answers GET with HTML' };
const PAGES = { suites: ['e2e/protocol/answers'], tests: 'what a browser sends' };
const EDGE = { suites: ['e2e/protocol/edge'], tests: 'BASE-13|answers to any IP address' };

/** No page of another site reaches Wharf, and nothing of a server's runs in a browser with Wharf's origin. */
export const ORIGIN: readonly Mutant[] = [
  {
    name: 'type-of-the-server-repeated',
    fault: "A server's HTML is a page of Wharf's.",
    file: HEADERS,
    find: "headers['content-type'] = kind === 'bytes' ? typeOfOther(upstream) : typeOfMessages(upstream, kind);",
    replace:
      "headers['content-type'] = single(upstream['content-type']) ?? typeOfMessages(upstream, kind === 'bytes' ? 'json' : kind);",
    ...ANSWERS,
  },
  {
    name: 'sniffing-allowed',
    fault: 'A browser takes plain text for HTML where it looks like that.',
    file: RESPONSE,
    find: "  'x-content-type-options': 'nosniff',\n",
    replace: '',
    ...ANSWERS,
  },
  {
    name: 'no-sandbox',
    fault: "What runs after all runs with Wharf's origin.",
    file: RESPONSE,
    find: "default-src 'none'; sandbox; frame-ancestors 'none'",
    replace: "default-src 'none'; frame-ancestors 'none'",
    ...ANSWERS,
  },
  {
    name: 'only-first-answers-are-safe',
    fault: 'An answer whose head holds headers of its own goes without those that keep it from running.',
    file: RESPONSE,
    find: 'for (const [name, value] of DEFAULTS) if (!this.hasHeader(name))',
    replace: 'for (const [name, value] of DEFAULTS) if (status < 400 && !this.hasHeader(name))',
    suites: ['unit/http/response'],
  },
  {
    name: 'challenges-passed',
    fault: "A server asks for a password in Wharf's name.",
    file: HEADERS,
    find: "const PASSED_TO_CLIENT = ['retry-after',",
    replace: "const PASSED_TO_CLIENT = ['www-authenticate', 'retry-after',",
    ...ANSWERS,
  },
  {
    name: 'cookies-passed',
    fault: "A server sets cookies of Wharf's origin.",
    file: HEADERS,
    find: "const PASSED_TO_CLIENT = ['retry-after',",
    replace: "const PASSED_TO_CLIENT = ['set-cookie', 'retry-after',",
    ...ANSWERS,
  },
  {
    name: 'navigations-let-in',
    fault: 'A link on any page opens what a server says.',
    file: BROWSER,
    find: "if (mode === 'navigate' ||",
    replace: "if (mode === '' ||",
    ...PAGES,
  },
  {
    name: 'frames-let-in',
    fault: 'Any page can show what a server says in a frame, or load it as a picture.',
    file: BROWSER,
    find: "(destination !== undefined && destination !== 'empty')",
    replace: "destination === 'document'",
    ...PAGES,
  },
  {
    name: 'blind-requests-let-in',
    fault: 'Any page can make a browser hold streams of servers open.',
    file: BROWSER,
    find: "if (origin === undefined && (mode === 'no-cors' ||",
    replace: "if (origin === '' && (mode === 'no-cors' ||",
    ...PAGES,
  },
  {
    name: 'any-accept',
    fault: 'A browser that does not say what a request is for opens what a server says.',
    file: BROWSER,
    find: "if (method === 'GET' && !/",
    replace: "if (method === 'get' && !/",
    ...PAGES,
  },
  {
    name: 'origin-by-host-only',
    fault: 'A page at another port or scheme of the same machine may call.',
    file: GUARD,
    find: '    if (origins.has(origin)) return true;',
    replace:
      '    if ([...origins].some((own) => new URL(own).hostname === origin.replace(/^\\w+:..|:\\d+$/g, ""))) return true;',
    ...EDGE,
  },
  {
    name: 'pages-of-any-port-of-this-machine',
    fault: 'What any program of this machine serves may call, although Wharf has a public address.',
    file: GUARD,
    find: 'return settings.trustsLoopbackPages || origin ===',
    replace: 'return settings.trustsLoopbackPages !== undefined || origin ===',
    ...EDGE,
  },
  {
    name: 'any-host',
    fault: 'A page whose name is made to lead to this machine is same-origin with Wharf.',
    file: GUARD,
    find: 'if (!isOwnHost(host)) throw',
    replace: 'if (host === "" && !isOwnHost(host)) throw',
    ...EDGE,
  },
  {
    name: 'any-address-on-the-public-port',
    fault: 'The public port answers to addresses that are not listed.',
    file: GUARD,
    find: 'settings.answersToAddresses && isIP(',
    replace: 'settings.answersToAddresses !== undefined && isIP(',
    ...EDGE,
  },
];

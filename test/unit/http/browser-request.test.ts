import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import { isPageVisit, refusePages, takesText } from '../../../gateway/http/origin/browser-request.js';

type Headers = Record<string, string>;

const EVENTS = 'application/json, text/event-stream';
const PAGE = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';

describe('a request of a browser to an MCP endpoint', () => {
  const outcome = (method: string, headers: Headers) => {
    try {
      refusePages(method, headers);
      return 'passes';
    } catch (error) {
      return error instanceof GatewayError ? error.code : String(error);
    }
  };

  it.each<[string, string, string, Headers]>([
    ['a client that asks for events', 'GET', 'passes', { accept: EVENTS }],
    ['a client that posts', 'POST', 'passes', {}],
    ['a page that may call', 'POST', 'passes', { origin: 'https://a.example', 'sec-fetch-site': 'cross-site' }],
    ['a person who opens it', 'GET', 'navigation_refused', { accept: EVENTS, 'sec-fetch-mode': 'navigate' }],
    ['a picture in a page', 'GET', 'navigation_refused', { accept: EVENTS, 'sec-fetch-dest': 'image' }],
    [
      'a call that reads no answer',
      'POST',
      'origin_forbidden',
      { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
    ],
    ['another site', 'POST', 'origin_forbidden', { 'sec-fetch-site': 'cross-site' }],
    ['another name of the same site', 'POST', 'origin_forbidden', { 'sec-fetch-site': 'same-site' }],
    ['an old browser', 'GET', 'not_acceptable', { accept: PAGE }],
    ['what names no type', 'GET', 'not_acceptable', {}],
    ['a type that only begins like it', 'GET', 'not_acceptable', { accept: 'text/event-streams' }],
  ])('%s: %s %s', (_who, method, expected, headers) => {
    expect(outcome(method, headers)).toBe(expected);
  });
});

it.each<[boolean, string, Headers]>([
  [true, 'GET', { accept: PAGE }],
  [true, 'HEAD', { accept: PAGE, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
  [false, 'POST', { accept: PAGE }],
  [false, 'GET', { accept: '*/*' }],
  [false, 'GET', { accept: `${PAGE}, text/event-stream` }],
  [false, 'GET', { accept: PAGE, 'sec-fetch-dest': 'iframe' }],
  [false, 'GET', { accept: PAGE, 'sec-fetch-mode': 'cors' }],
])('a person visits a page: %s for %s with %j', (expected, method, headers) => {
  expect(isPageVisit(method, headers)).toBe(expected);
});

it.each<[boolean, Headers]>([
  [true, {}],
  [true, { accept: '*/*', 'sec-fetch-site': 'same-origin' }],
  [false, { accept: '*/*', 'sec-fetch-site': 'cross-site' }],
  [true, { accept: 'text/plain' }],
  [true, { accept: 'application/json, text/plain, */*' }],
  [false, { accept: 'image/png' }],
  [false, { accept: 'text/plain;q=0, */*' }],
  [false, { accept: 'text/event-stream, */*' }],
])('a program takes text: %s with %j', (expected, headers) => {
  expect(takesText(headers)).toBe(expected);
});

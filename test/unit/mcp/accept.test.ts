import { describe, expect, it } from '@jest/globals';
import { accepts, isJsonOrEvents } from '../../../gateway/mcp/accept.js';

describe('an Accept header', () => {
  it.each([
    [undefined, 'image/png', true],
    ['*/*', 'image/png', true],
    ['application/json, */*;q=0.1', 'image/png', true],
    ['application/json, text/event-stream', 'image/png', false],
    ['application/json, Image/PNG', 'image/png', true],
    ['application/json,image/*', 'image/png; a=b', true],
    ['image/*;q=0', 'image/png', false],
    ['*/*; q=0.000, image/jpeg', 'image/png', false],
    ['image/png;q=0, image/*, */*', 'image/png', false],
    ['*/*, image/*;q=0.0', 'image/png', false],
    ['*/*;q=0, image/*;q=0, image/png', 'image/png', true],
    ['image/png;q=0, image/png;level=1', 'image/png', true],
    ['', 'image/png', false],
    ['image/pn', 'image/png', false],
  ])('%p with %s: %p (2532-48)', (header, type, expected) => {
    expect(accepts(header, type)).toBe(expected);
  });
});

it.each([
  ['application/json', true],
  ['Application/JSON; charset=utf-8', true],
  ['application/ld+json', true],
  ['text/event-stream', true],
  ['application/jsonl', false],
  ['text/json-like', false],
])('%s is a message to its reader: %p', (type, expected) => {
  expect(isJsonOrEvents(type)).toBe(expected);
});

import { describe, expect, it } from '@jest/globals';
import { isAccepted } from '../../../gateway/policy/accept.js';

describe('whether a file fits what a tool accepts', () => {
  it.each<[readonly string[], string, boolean]>([
    [['image/png'], 'image/png', true],
    [['image/png'], 'image/jpeg', false],
    [['image/*'], 'image/jpeg', true],
    [['image/*'], 'application/pdf', false],
    [['IMAGE/PNG; q=1'], 'image/png', true],
    [['.pdf'], 'image/png', true],
  ])('%j, %s: %s', (accept, type, expected) => {
    expect(isAccepted(accept, type)).toBe(expected);
  });

  it.each(['application/octet-stream', 'Application/Octet-Stream; x=y', '*/*', 'binary/octet-stream'])(
    '%s stands for any file',
    (entry) => {
      for (const type of ['image/png', 'application/pdf', 'application/zip', 'text/plain']) {
        expect(isAccepted([entry], type)).toBe(true);
      }
    },
  );

  it.each([
    ['text/csv', 'application/vnd.ms-excel'],
    ['application/vnd.ms-excel', 'text/csv'],
    ['text/csv', 'application/csv'],
    ['text/plain', 'text/markdown'],
    ['application/xml', 'text/xml'],
    ['image/jpg', 'image/jpeg'],
    ['application/zip', 'application/x-zip-compressed'],
    ['audio/x-wav', 'audio/wav'],
  ])('what one system calls %s is to another %s', (accepted, type) => {
    expect(isAccepted([accepted], type)).toBe(true);
  });

  it.each([
    ['text/csv', 'image/png'],
    ['text/csv', 'application/pdf'],
    ['image/png', 'text/plain'],
    ['application/pdf', 'application/octet-stream'],
    ['text/plain', 'application/octet-stream'],
  ])('but for %s no %s is taken', (accepted, type) => {
    expect(isAccepted([accepted], type)).toBe(false);
  });
});

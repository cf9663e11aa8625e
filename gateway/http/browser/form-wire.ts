import { request } from './request.js';
import { failure, type Wire } from './wire.js';

/** Sends like the page's form: the whole file in one request, from the beginning after a failure. */
export function formWire(url: string): Wire {
  return {
    keeps: false,
    begin: async () => ({ from: 0, isStored: false }),
    async send(file, _from, onSent, signal) {
      const body = new FormData();
      body.set('file', file);
      const onBody = (bytes: number) => onSent(Math.min(bytes, file.size));
      const answer = await request({
        method: 'POST',
        url,
        headers: { accept: 'application/json' },
        body,
        onSent: onBody,
        signal,
      });
      if (answer.status !== 201) throw failure(answer);
    },
    drop: async () => {},
  };
}

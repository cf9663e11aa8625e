import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The compiled folder of the gateway: the script's modules import each other, and a few shared ones. */
const GATEWAY = join(import.meta.dirname, '..');

/** The script of the upload page: the page names the first. */
const OF_UPLOADS = [
  'http/browser/upload.js',
  'http/browser/all-files.js',
  'http/browser/clock.js',
  'http/browser/come-file.js',
  'http/browser/dom.js',
  'http/browser/file-address.js',
  'http/browser/fits.js',
  'http/browser/form-wire.js',
  'http/browser/picking.js',
  'http/browser/rate.js',
  'http/browser/request.js',
  'http/browser/row.js',
  'http/browser/said.js',
  'http/browser/shown.js',
  'http/browser/texts.js',
  'http/browser/title.js',
  'http/browser/transfer.js',
  'http/browser/tus-wire.js',
  'http/browser/watch.js',
  'http/browser/wire.js',
  'policy/accept.js',
  'policy/amounts.js',
] as const;

/** The script of the pages with texts to copy. */
const OF_COPIES = ['http/browser/copy.js', 'http/browser/dom.js'] as const;

/** The files that a browser may fetch. */
const MODULES = [...new Set([...OF_UPLOADS, ...OF_COPIES])];

const TEXTS = new Map(
  MODULES.map((name) => [
    name as string,
    // source maps are not part of the package
    readFileSync(join(GATEWAY, name), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'),
  ]),
);

/** Changes whenever any byte of them changes, so responses under it can be cached for ever. */
const VERSION = createHash('sha256')
  .update(JSON.stringify([...TEXTS]))
  .digest('hex')
  .slice(0, 16);

/** Addresses of the script and of all that it imports, relative to a page at `/u/…`. */
export const UPLOAD_MODULES: readonly string[] = OF_UPLOADS.map((name) => `../assets/${VERSION}/${name}`);

/** Of the script that copies, relative to the root. */
export const COPY_MODULES: readonly string[] = OF_COPIES.map((name) => `assets/${VERSION}/${name}`);

/** A file of the pages' script. */
export function browserFile(version: string, name: string): string | undefined {
  return version === VERSION ? TEXTS.get(name) : undefined;
}

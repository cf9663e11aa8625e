import { describe, expect, it } from '@jest/globals';
import { Hosts } from '../../../gateway/hosts/hosts.js';
import { treatmentFor } from '../../../gateway/hosts/treatment.js';
import type { ClientProfile } from '../../../gateway/ports/client.js';
import type { HostBehaviour, HostProfile } from '../../../gateway/ports/host.js';

const known = <Value>(is: Value) => ({ is, source: 'a source' });

const BEHAVIOUR: HostBehaviour = {
  structured: known('both'),
  images: known({ reach: 'model' }),
  links: known('unknown'),
  blobs: known('shown'),
  errors: known('unknown'),
  user: known('blocks'),
};

function profileOf(name: string, match: HostProfile['match'], rest: Partial<HostBehaviour> = {}): HostProfile {
  return { name, title: name, match, behaviour: { ...BEHAVIOUR, ...rest } };
}

const OLD = profileOf('old', { names: ['one-*'], versions: '<2' }, { structured: known('without-content') });
const NEW = profileOf('new', { names: ['one-*', 'One'] }, { structured: known('without-text') });
const ENTRIES: ClientProfile[] = [
  { match: { name: 'mine', version: '>=2' }, dialects: ['d'], like: 'new', host: { curl: true } },
  { match: { name: 'like-new' }, dialects: [], like: 'new', host: { curl: true } },
  { match: { principal: 'ci' }, dialects: [], host: { structured: 'keep' } },
];
const HOSTS = new Hosts([OLD, NEW], ENTRIES);

describe('the host of a client', () => {
  it.each([
    ['one-a', '1.9', 'old'],
    ['one-a', '2.0', 'new'],
    ['one-a', undefined, 'new'],
    ['One', '1.9', 'new'],
    ['one-a (via mcp-remote 0.1.29)', '1.9', 'old'],
    ['someone-a', '1.9', undefined],
    [undefined, '1.9', undefined],
    ['mine', '2.1', 'new'],
    ['mine', '1.9', undefined],
  ])('%s %s is %s', (name, version, profile) => {
    expect(HOSTS.find({ name, version }, 'p').profile?.name).toBe(profile);
  });

  it('is what the operator says, and otherwise what its profile says', () => {
    expect(HOSTS.find({ name: 'like-new' }, 'p').host).toEqual({ structured: 'drop', curl: true });
    // a dialect may look for files in structuredContent
    expect(HOSTS.find({ name: 'mine', version: '2' }, 'p')).toMatchObject({
      host: { structured: 'keep', curl: true },
      dialects: ['d'],
    });
    expect(HOSTS.find({ name: 'one-a', version: '3' }, 'ci').host).toEqual({ structured: 'keep' });
    expect(HOSTS.find({ name: 'x' }, 'p')).toEqual({ host: {}, dialects: [] });
  });
});

describe('what follows from how a host behaves', () => {
  it.each<[string, Partial<HostBehaviour>, object]>([
    ['nothing', {}, {}],
    ['only content counts', { structured: known('content') }, {}],
    ['the JSON hides text', { structured: known('without-text') }, { structured: 'drop' }],
    ['the JSON hides all', { structured: known('without-content') }, { structured: 'drop' }],
    ['images are JSON', { images: known({ reach: 'json' }) }, { images: 'drop' }],
    ['images do not arrive', { images: known({ reach: 'nothing' }), user: known('text') }, { images: 'drop' }],
    [
      'some images arrive',
      { images: known({ reach: 'model', types: ['image/png'], mostEdge: 8000, perResult: 7 }) },
      { imageTypes: ['image/png'], imageEdge: 8000, imagesPerResult: 7 },
    ],
    ['images are left out on one way', { images: known({ reach: 'model', notAlways: true }) }, { images: 'with-text' }],
    ['errors are text', { errors: known('text') }, { errorImages: 'drop' }],
    ['errors become a string', { errors: known('string') }, { errorImages: 'drop' }],
    ['errors are as any result', { errors: known('content') }, { errorImages: 'keep' }],
    ['links are dropped', { links: known('dropped') }, { resourceLinks: 'with-text' }],
    ['links are fetched', { links: known('fetched') }, { resourceLinks: 'as-text' }],
    ['links are refused', { links: known('refused') }, { resourceLinks: 'as-text' }],
    ['a link makes JSON of all', { links: known('whole') }, { resourceLinks: 'as-text' }],
    ['embedded texts are dropped', { embeddedTexts: known('dropped') }, { embeddedTexts: 'as-text' }],
    ['an embedded page is shown', { embeddedTexts: known('pages') }, { embeddedTexts: 'keep-pages' }],
    ['an embedded text makes JSON of all', { embeddedTexts: known('whole') }, { embeddedTexts: 'as-text' }],
    ['links are read', { links: known('read') }, { resourceLinks: 'no-images' }],
    ['links are text', { links: known('text') }, { resourceLinks: 'drop' }],
    ['links are JSON', { links: known('json') }, { resourceLinks: 'drop' }],
    ['blobs are JSON', { blobs: known('json') }, { blobs: 'drop' }],
    ['blobs are named', { blobs: known('named') }, { blobs: 'drop' }],
    ['nothing is known of blobs', { blobs: known('unknown') }, { blobs: 'drop' }],
    ['blobs are dropped', { blobs: known('dropped') }, { blobs: 'drop' }],
    ['blobs are read as text', { blobs: known('decoded') }, { blobs: 'drop' }],
    ['blobs are sent unchecked', { blobs: known('unchecked') }, { blobs: 'drop' }],
    ['blobs are saved', { blobs: known('saved') }, {}],
    [
      'images reach its user alone',
      { images: known({ reach: 'nothing' }), user: known('blocks') },
      { images: 'with-text' },
    ],
    [
      'images have a budget',
      { images: known({ reach: 'model', bytesPerResult: 5000 }) },
      { imageBytesPerResult: 5000 },
    ],
    [
      'errors are cut',
      { errorText: known({ most: 10_000, unit: 'characters', per: 'result', lines: 500, over: 'cut' }) },
      { errorText: { most: 9000, unit: 'characters', per: 'result', lines: 500 } },
    ],
    [
      'text is cut',
      { text: known({ most: 10_000, unit: 'bytes', per: 'block', over: 'cut' }) },
      { text: { most: 9000, unit: 'bytes', per: 'block' } },
    ],
    ['results reach its model whole', { meta: known('results') }, { meta: 'drop' }],
    ['errors reach its model whole', { meta: known('errors') }, { meta: 'no-errors' }],
    ['texts are joined', { joined: known(true) }, { textsApart: true }],
    ['it opens pages', { opensPages: known(true) }, { opensPages: true }],
    ['it opens no pages', { opensPages: known(false) }, { opensPages: false }],
    ['it has a terminal', { terminal: known(true) }, { curl: true }],
  ])('%s', (_what, behaviour, treatment) => {
    // of a host that shows structuredContent, and of one that does not, the content has what it says of files
    expect(treatmentFor({ ...BEHAVIOUR, ...behaviour })).toEqual({ structured: 'with-blocks', ...treatment });
  });
});

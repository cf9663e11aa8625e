import type { Host, HostBehaviour, HostTextLimit, Known } from '../ports/host.js';

/** One decision about how results are written for a host, with the fact behind it. */
interface Decision {
  /** The key, as in `clients:`. */
  key: keyof Host;
  value: NonNullable<Host[keyof Host]>;
  /** Follows "because": what the host does. */
  because: string;
  source: string;
}

/** The part of a limit that stays free for what a host adds to a text. */
const TEXT_RESERVE = 0.1;

/** What follows from how a host behaves. A key that is missing is treated as for a host that is not known. */
export function decisionsFor(behaviour: HostBehaviour): Decision[] {
  return [
    ...structured(behaviour),
    ...images(behaviour),
    ...errorImages(behaviour),
    ...resourceLinks(behaviour),
    ...embeddedTexts(behaviour),
    ...blobs(behaviour),
    ...meta(behaviour),
    ...fileArguments(behaviour),
    ...text('text', behaviour.text),
    ...text('errorText', behaviour.errorText),
    ...textsApart(behaviour),
    ...opensPages(behaviour),
    ...curl(behaviour),
  ];
}

/** The decisions as one value. */
export function treatmentFor(behaviour: HostBehaviour): Host {
  return Object.fromEntries(decisionsFor(behaviour).map(({ key, value }) => [key, value]));
}

function structured({ structured: fact, images: { is: images }, text: limit }: HostBehaviour): Decision[] {
  switch (fact.is) {
    case 'both': {
      // every image is a link, and the JSON with its base64 would be longer than the result may be
      const isTooLong = images.reach !== 'model' && limit?.is.per === 'result';
      const because = 'it shows no image, and the copy of one in structuredContent takes the room of its link';
      return isTooLong
        ? [decision('structured', 'drop', because, limit)]
        : [decision('structured', 'with-blocks', 'an address in structuredContent says nothing of its file', fact)];
    }
    case 'content':
      return [decision('structured', 'with-blocks', 'structuredContent does not reach its model', fact)];
    case 'without-text':
      return [decision('structured', 'drop', 'it drops all text of a result that has structuredContent', fact)];
    case 'without-content':
      return [decision('structured', 'drop', 'it drops all content of a result that has structuredContent', fact)];
  }
}

function images({ images: fact, user }: HostBehaviour): Decision[] {
  const { reach, notAlways, types, mostEdge, perResult, bytesPerResult } = fact.is;
  if (reach === 'nothing' && user.is === 'blocks')
    return [decision('images', 'with-text', 'its user is shown images that do not reach its model', fact)];
  if (reach === 'json') return [decision('images', 'drop', 'images reach its model as base64 text', fact)];
  if (reach === 'nothing') return [decision('images', 'drop', 'images in results do not reach its model', fact)];
  return [
    ...(notAlways
      ? [decision('images', 'with-text', 'on one of the ways to its model images are left out', fact)]
      : []),
    ...(types ? [decision('imageTypes', types, 'its model sees only these', fact)] : []),
    ...(mostEdge === undefined
      ? []
      : [decision('imageEdge', mostEdge, 'its model’s service refuses the whole request for a longer edge', fact)]),
    ...(perResult === undefined
      ? []
      : [decision('imagesPerResult', perResult, 'more do not fit into what one result may be', fact)]),
    ...(bytesPerResult === undefined
      ? []
      : [decision('imageBytesPerResult', bytesPerResult, 'it does not show a result with more of them whole', fact)]),
  ];
}

function errorImages({ errors: fact }: HostBehaviour): Decision[] {
  if (fact.is === 'content') return [decision('errorImages', 'keep', 'an error is shown like any other result', fact)];
  const because = { text: 'an error keeps only its text', string: 'an error becomes one text, base64 and all' };
  return fact.is === 'unknown' ? [] : [decision('errorImages', 'drop', because[fact.is], fact)];
}

function resourceLinks({ links: fact }: HostBehaviour): Decision[] {
  switch (fact.is) {
    case 'read':
      // the preview stands beside the link already
      return [decision('resourceLinks', 'no-images', 'it reads a link at once, and an image is no text', fact)];
    case 'text':
      return [decision('resourceLinks', 'drop', 'a link becomes text, which would say the same again', fact)];
    case 'json':
      return [decision('resourceLinks', 'drop', 'a link becomes raw JSON', fact)];
    case 'whole':
      return [decision('resourceLinks', 'as-text', 'a link makes raw JSON of the whole result', fact)];
    case 'fetched':
      return [decision('resourceLinks', 'as-text', 'its model’s service is told to fetch a link, and may not', fact)];
    case 'refused':
      return [decision('resourceLinks', 'as-text', 'it takes no link', fact)];
    case 'dropped':
      return [decision('resourceLinks', 'with-text', 'links in results do not reach its model', fact)];
    default:
      return [];
  }
}

function embeddedTexts({ embeddedTexts: fact }: HostBehaviour): Decision[] {
  if (!fact) return [];
  if (fact.is === 'pages') return [decision('embeddedTexts', 'keep-pages', 'its user is shown embedded pages', fact)];
  const because =
    fact.is === 'dropped'
      ? 'embedded texts do not reach its model'
      : 'an embedded text makes raw JSON of the whole result';
  return [decision('embeddedTexts', 'as-text', because, fact)];
}

function blobs({ blobs: fact }: HostBehaviour): Decision[] {
  switch (fact.is) {
    case 'json':
      return [decision('blobs', 'drop', 'embedded bytes reach its model as base64 text', fact)];
    case 'decoded':
      return [decision('blobs', 'drop', 'embedded bytes reach its model as if they were text', fact)];
    case 'unchecked':
      return [decision('blobs', 'drop', 'its model refuses the whole request for types that it does not know', fact)];
    case 'named':
      return [decision('blobs', 'drop', 'its model gets the type of embedded bytes, but not the bytes', fact)];
    case 'dropped':
      return [decision('blobs', 'drop', 'embedded bytes do not reach its model', fact)];
    case 'unknown':
      return [decision('blobs', 'drop', 'it is not known that embedded bytes reach its model', fact)];
    default:
      return [];
  }
}

function meta({ meta: fact }: HostBehaviour): Decision[] {
  if (!fact) return [];
  if (fact.is === 'errors')
    return [decision('meta', 'no-errors', 'an error reaches its model whole, `_meta` too', fact)];
  return [decision('meta', 'drop', 'a result reaches its model whole, `_meta` too', fact)];
}

function fileArguments({ keywords: fact }: HostBehaviour): Decision[] {
  return fact ? [decision('fileArguments', 'plain', 'a service of its models refuses keywords in schemas', fact)] : [];
}

function text(key: 'text' | 'errorText', fact: Known<HostTextLimit> | undefined): Decision[] {
  if (!fact) return [];
  const { most, over, withImages, atMost, ...limit } = fact.is;
  const shortened = over === 'cut' ? 'cuts off' : 'moves into a file';
  const value = {
    most: withoutReserve(most),
    ...limit,
    ...(withImages && { withImages: { ...withImages, most: withoutReserve(withImages.most) } }),
    ...(atMost !== undefined && { atMost: withoutReserve(atMost) }),
  };
  const what = key === 'text' ? 'text' : 'errors';
  return [decision(key, value, `it ${shortened} ${what} of more than ${most} ${limit.unit}`, fact)];
}

function withoutReserve(most: number): number {
  return Math.floor(most * (1 - TEXT_RESERVE));
}

function textsApart({ joined: fact }: HostBehaviour): Decision[] {
  return fact ? [decision('textsApart', true, 'it puts nothing between two texts', fact)] : [];
}

function opensPages({ opensPages: fact }: HostBehaviour): Decision[] {
  if (!fact) return [];
  const because = fact.is ? 'it opens pages, but does not declare it' : 'it declares that it opens pages, but does not';
  return [decision('opensPages', fact.is, because, fact)];
}

function curl({ terminal: fact }: HostBehaviour): Decision[] {
  return fact ? [decision('curl', true, 'its model can run commands', fact)] : [];
}

function decision<Key extends keyof Host>(
  key: Key,
  value: NonNullable<Host[Key]>,
  because: string,
  { source }: Known<unknown>,
): Decision {
  return { key, value, because, source };
}

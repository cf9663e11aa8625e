import { PNG_BASE64 } from './bytes.js';
import type { Resource } from './fixture.js';

export const RESOURCES: Resource[] = [
  {
    uri: 'test://static-text',
    name: 'Static text',
    description: 'A text that never changes',
    mimeType: 'text/plain',
    contents: { text: 'This is the content of the static text resource.' },
  },
  {
    uri: 'test://static-binary',
    name: 'Static image',
    description: 'An image that never changes',
    mimeType: 'image/png',
    contents: { blob: PNG_BASE64 },
  },
  {
    uri: 'test://watched-resource',
    name: 'Watched resource',
    description: 'A resource to subscribe to',
    mimeType: 'text/plain',
    contents: { text: 'Watched.' },
  },
];

export const TEMPLATE = {
  uriTemplate: 'test://template/{id}/data',
  name: 'Template',
  description: 'One resource for each id',
  mimeType: 'application/json',
};

type ContentsItem = { uri: string; mimeType: string } & Resource['contents'];

/** The contents item `resources/read` gives for `uri`, or undefined where nothing is there. */
export function readResource(uri: string): ContentsItem | undefined {
  const found = RESOURCES.find((resource) => resource.uri === uri);
  if (found !== undefined) return { uri, mimeType: found.mimeType, ...found.contents };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) return undefined;
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  return { uri, mimeType: TEMPLATE.mimeType, text: JSON.stringify(data) };
}

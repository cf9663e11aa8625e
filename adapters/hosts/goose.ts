import type { HostProfile } from '../../gateway/ports/host.js';

export const profiles: readonly HostProfile[] = [
  {
    name: 'goose',
    title: 'Goose',
    match: { names: ['goose-desktop', 'goose-cli'] },
    behaviour: {
      structured: { is: 'content', source: 'its format for OpenAI' },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] },
        source: 'aaif-goose/goose #6714: sent again with each turn',
      },
      links: { is: 'dropped', source: 'its format for OpenAI' },
      blobs: { is: 'dropped', source: 'its format for OpenAI' },
      errors: { is: 'unknown', source: 'nothing found' },
      text: {
        is: { most: 100_000, unit: 'characters', over: 'saved' },
        source: 'aaif-goose/goose #6939: 200,000, and some versions cut from 100,000',
      },
      user: { is: 'blocks', source: 'aaif-goose/goose #2629' },
      terminal: { is: true, source: 'its developer extension runs commands' },
    },
  },
];

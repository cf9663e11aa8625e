import type { HostBehaviour, HostProfile } from '../../gateway/ports/host.js';

const SURVEY = 'a survey of the program, versions 2.1.269 to 2.1.280';

const COMMON: HostBehaviour = {
  structured: {
    is: 'without-text',
    source: 'anthropics/claude-code #79944, #55677; one survey saw the text stay, the worse case is assumed',
  },
  images: {
    // 25,000 tokens of a result hold seven previews of 3136 tokens
    is: {
      reach: 'model',
      types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
      edge: 2000,
      // versions before those of the survey scaled nothing
      mostEdge: 8000,
      perResult: 7,
    },
    source: `${SURVEY}; the 25,000 tokens of a result include its images; the edge that is refused: anthropics/claude-code #5147`,
  },
  links: { is: 'text', source: `${SURVEY}: "[Resource link: name] uri"` },
  blobs: { is: 'saved', source: SURVEY },
  errors: { is: 'text', source: 'anthropics/claude-code #86032' },
  text: {
    is: {
      most: 50_000,
      unit: 'characters',
      per: 'result',
      over: 'saved',
      // 25,000 tokens, of about four characters each
      withImages: { most: 100_000, each: 4 * 3136 },
      atMost: 500_000,
    },
    source: `${SURVEY}; the 25,000 tokens of a result include its images; a tool may raise both, says its CHANGELOG.md`,
  },
  errorText: {
    is: { most: 10_000, unit: 'characters', per: 'result', over: 'cut' },
    source: `${SURVEY}: about 11,000`,
  },
  user: { is: 'text', source: 'anthropics/claude-code #53980, #74600: an image is "[Image]"' },
  terminal: { is: true, source: 'it runs in a terminal' },
};

export const profiles: readonly HostProfile[] = [
  {
    name: 'claude-code-2.1.75',
    title: 'Claude Code up to 2.1.75',
    match: { names: ['claude-code'], versions: '<2.1.76' },
    behaviour: COMMON,
  },
  {
    name: 'claude-code',
    title: 'Claude Code',
    match: { names: ['claude-code'] },
    behaviour: {
      ...COMMON,
      opensPages: { is: true, source: 'its users: from 2.1.76 on, while it declares elicitation without a mode' },
    },
  },
];

import { describe, expect, it } from '@jest/globals';
import { hosts } from '../../../adapters/hosts/index.js';
import { Hosts } from '../../../gateway/hosts/hosts.js';
import { treatmentFor } from '../../../gateway/hosts/treatment.js';
import { isVersionRange } from '../../../gateway/hosts/version-range.js';
import type { Host } from '../../../gateway/ports/host.js';

const USUAL = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
type Per = 'block' | 'result';
const chars = (most: number, per: Per) => ({ most, unit: 'characters' as const, per });
const bytes = (most: number, per: Per) => ({ most, unit: 'bytes' as const, per });
const CODEX: Host = {
  structured: 'drop',
  imageTypes: USUAL,
  resourceLinks: 'drop',
  blobs: 'drop',
  text: bytes(36_000, 'result'),
  errorImages: 'keep',
  curl: true,
};
const { imageTypes: _, ...FIRST_CODEX } = CODEX;

const CLAUDE: Host = {
  structured: 'drop',
  imageTypes: USUAL,
  imageEdge: 8000,
  imagesPerResult: 7,
  errorImages: 'drop',
  resourceLinks: 'drop',
  text: { ...chars(45_000, 'result'), withImages: { most: 90_000, each: 12_544 }, atMost: 450_000 },
  errorText: chars(9000, 'result'),
  curl: true,
};
const DESKTOP: Host = {
  imageTypes: USUAL,
  imageEdge: 8000,
  imageBytesPerResult: 600_000,
  blobs: 'drop',
  text: chars(135_000, 'result'),
};
const COPILOT: Host = {
  structured: 'drop',
  images: 'drop',
  blobs: 'drop',
  text: bytes(18_432, 'result'),
  opensPages: false,
  curl: true,
};
const GOOSE: Host = {
  imageTypes: USUAL,
  imageBytesPerResult: 1_500_000,
  errorImages: 'keep',
  resourceLinks: 'with-text',
  embeddedTexts: 'keep-pages',
  blobs: 'drop',
  text: chars(90_000, 'block'),
  curl: true,
};

/** A client as it names itself, its profile, and how results are written for it. */
const CLIENTS: readonly [name: string, version: string | undefined, profile: string, host: Host][] = [
  ['claude-code', '2.1.280', 'claude-code', { ...CLAUDE, opensPages: true }],
  ['claude-code', '2.1.75', 'claude-code-2.1.75', CLAUDE],
  ['claude-ai', '0.1.0', 'claude-desktop', DESKTOP],
  ['claude-ai (via mcp-remote 0.1.29)', '0.1.0', 'claude-desktop', DESKTOP],
  ['claude-ai (via mcp-remote 0.1.29) (via proxy 2)', '1', 'claude-desktop', DESKTOP],
  ['codex-mcp-client', '0.38.0', 'codex-0.38', { ...FIRST_CODEX, images: 'drop' }],
  ['codex-mcp-client', '0.154.0', 'codex-0.154', CODEX],
  ['codex-mcp-client', '0.154.2', 'codex-0.154', CODEX],
  ['codex-mcp-client', '0.171.0', 'codex', CODEX],
  ['codex-mcp-client', undefined, 'codex', CODEX],
  ['github-copilot-developer', '1.0.87', 'copilot-cli-1.0.87', { ...COPILOT, text: bytes(9216, 'result') }],
  ['copilot-cli', '1.0.87', 'copilot-cli-1.0.87', { ...COPILOT, text: bytes(9216, 'result') }],
  [
    'copilot-cli',
    '1.0.102',
    'copilot-cli',
    { ...COPILOT, errorImages: 'drop', resourceLinks: 'with-text', textsApart: true },
  ],
  ...(['Visual Studio Code', 'Visual Studio Code - Insiders', 'Code - OSS'] as const).map(
    (name) =>
      [
        name,
        '1.107.0',
        'vscode',
        {
          structured: 'drop',
          imageTypes: USUAL,
          imageBytesPerResult: 2_621_440,
          errorImages: 'keep',
          resourceLinks: 'no-images',
          blobs: 'drop',
          text: bytes(7372, 'block'),
        },
      ] as [string, string, string, Host],
  ),
  ['cursor-vscode', '1.0.0', 'cursor', { imageTypes: USUAL, blobs: 'drop' }],
  [
    'gemini-cli-mcp-client-files',
    '0.9.0',
    'gemini-cli',
    {
      imageTypes: ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'],
      errorImages: 'drop',
      resourceLinks: 'drop',
      blobs: 'drop',
      meta: 'no-errors',
      text: chars(36_000, 'block'),
      curl: true,
    },
  ],
  ['goose-desktop', '1.9.0', 'goose', GOOSE],
  ['goose-cli', '1.9.0', 'goose', GOOSE],
  [
    'opencode',
    '1.0.0',
    'opencode',
    {
      structured: 'drop',
      imageTypes: USUAL,
      imageEdge: 8000,
      errorImages: 'drop',
      resourceLinks: 'with-text',
      blobs: 'drop',
      text: { ...bytes(46_080, 'result'), lines: 2000 },
      curl: true,
    },
  ],
  [
    'kilo',
    '7.7.9',
    'kilo',
    {
      imageTypes: USUAL,
      imageEdge: 8000,
      errorImages: 'drop',
      resourceLinks: 'with-text',
      blobs: 'drop',
      text: { ...bytes(46_080, 'result'), lines: 2000 },
      curl: true,
    },
  ],
  [
    'mcporter',
    '0.12.3',
    'mcporter',
    { structured: 'drop', images: 'drop', errorImages: 'drop', resourceLinks: 'drop', blobs: 'drop', curl: true },
  ],
  ['openai-mcp', '1.0.0', 'chatgpt', { imageTypes: USUAL, blobs: 'drop' }],
  [
    '@librechat/api-client',
    '1.0.0',
    'librechat',
    { imageTypes: USUAL, errorImages: 'keep', resourceLinks: 'drop', embeddedTexts: 'keep-pages', blobs: 'drop' },
  ],
  [
    '@langchain/mcp-adapters',
    '1.1.4',
    'langchain',
    {
      imageTypes: USUAL,
      imageEdge: 8000,
      errorImages: 'drop',
      resourceLinks: 'as-text',
      embeddedTexts: 'as-text',
      blobs: 'drop',
      fileArguments: 'plain',
    },
  ],
  [
    'ai-sdk-mcp-client',
    '1.0.0',
    'ai-sdk',
    {
      imageTypes: USUAL,
      imageEdge: 8000,
      errorImages: 'keep',
      resourceLinks: 'drop',
      blobs: 'drop',
      fileArguments: 'plain',
    },
  ],
  ...(['stdio: npx', 'stdio: /usr/local/bin/wharf', 'streamable-http: http://127.0.0.1:8080/mcp'] as const).map(
    (name) =>
      [
        name,
        '1.0.0',
        'openai-agents',
        {
          images: 'with-text',
          ...{
            imageTypes: USUAL,
            errorImages: 'keep',
            resourceLinks: 'as-text',
            embeddedTexts: 'as-text',
            blobs: 'drop',
          },
          textsApart: true,
        },
      ] as [string, string, string, Host],
  ),
  [
    'strands-agents-ts-sdk',
    '1.0.0',
    'strands',
    { imageTypes: USUAL, imageEdge: 8000, errorImages: 'keep', resourceLinks: 'drop', blobs: 'drop' },
  ],
  [
    'mcp-client-cli',
    '1.0.0',
    'llamaindex',
    { images: 'drop', errorImages: 'drop', resourceLinks: 'drop', blobs: 'drop', meta: 'drop' },
  ],
  [
    'mcp-use',
    '1.34.6',
    'mcp-use-1',
    { images: 'drop', errorImages: 'drop', resourceLinks: 'drop', blobs: 'drop', meta: 'drop' },
  ],
  [
    'mcp-use',
    '2.1.5',
    'mcp-use',
    { imageTypes: USUAL, imageEdge: 8000, errorImages: 'keep', resourceLinks: 'drop', blobs: 'drop' },
  ],
  [
    '@cline/core',
    '0.0.0',
    'cline',
    {
      structured: 'drop',
      images: 'drop',
      errorImages: 'drop',
      resourceLinks: 'drop',
      blobs: 'drop',
      meta: 'drop',
      text: chars(6300, 'result'),
      curl: true,
    },
  ],
  [
    'Cline',
    '3.60.0',
    'cline-extension',
    { imageTypes: USUAL, imageEdge: 8000, errorImages: 'keep', resourceLinks: 'with-text', blobs: 'drop', curl: true },
  ],
  [
    'Roo Code',
    '3.50.0',
    'roo-code',
    { images: 'drop', errorImages: 'keep', resourceLinks: 'with-text', blobs: 'drop', curl: true },
  ],
  [
    'crush',
    '0.96.1',
    'crush',
    {
      imageTypes: USUAL,
      imagesPerResult: 1,
      errorImages: 'keep',
      resourceLinks: 'drop',
      embeddedTexts: 'as-text',
      blobs: 'drop',
      curl: true,
    },
  ],
  [
    'Zed',
    '0.1.0',
    'zed',
    {
      images: 'with-text',
      imageTypes: USUAL,
      errorImages: 'drop',
      resourceLinks: 'as-text',
      embeddedTexts: 'as-text',
      blobs: 'drop',
      textsApart: true,
      curl: true,
    },
  ],
  [
    'continue-cli-client',
    '1.0.0',
    'continue-cli',
    { images: 'drop', errorImages: 'keep', resourceLinks: 'drop', blobs: 'drop', curl: true },
  ],
  [
    'continue-client',
    '1.0.0',
    'continue',
    { images: 'drop', errorImages: 'drop', resourceLinks: 'as-text', blobs: 'drop' },
  ],
  [
    'genkit-mcp',
    '1.0.0',
    'genkit',
    {
      structured: 'drop',
      images: 'drop',
      errorImages: 'drop',
      resourceLinks: 'drop',
      blobs: 'drop',
      textsApart: true,
      meta: 'drop',
    },
  ],
  [
    'qwen-cli-mcp-client-files',
    '0.0.1',
    'qwen-code',
    {
      imageTypes: USUAL,
      errorImages: 'drop',
      resourceLinks: 'drop',
      blobs: 'drop',
      meta: 'no-errors',
      text: { ...chars(22_500, 'result'), lines: 1000 },
      curl: true,
    },
  ],
];

describe('the profile of', () => {
  it.each(CLIENTS)('%s %s is %s', (name, version, profile, host) => {
    const found = new Hosts(hosts, []).find({ name, version }, undefined);
    expect(found.profile?.name).toBe(profile);
    expect(found.host).toEqual({ structured: 'with-blocks', ...host });
  });

  it('a host that only an operator can name is found by that name', () => {
    const entry = { match: { name: 'mcp' }, dialects: [], like: 'open-webui', host: {} };
    const found = new Hosts(hosts, [entry]).find({ name: 'mcp', version: '0.1.0' }, undefined);
    expect(found.host).toEqual({
      structured: 'with-blocks',
      images: 'with-text',
      errorImages: 'drop',
      resourceLinks: 'with-text',
      embeddedTexts: 'as-text',
      blobs: 'drop',
    });
    expect(new Hosts(hosts, []).find({ name: 'mcp', version: '0.1.0' }, undefined).profile).toBeUndefined();
    const named = { match: { name: 'my server' }, dialects: [], like: 'mastra', host: {} };
    expect(new Hosts(hosts, [named]).find({ name: 'my server', version: '1.0.0' }, undefined).host).toEqual({
      structured: 'drop',
      images: 'drop',
      errorImages: 'drop',
      resourceLinks: 'drop',
      blobs: 'drop',
      meta: 'drop',
      fileArguments: 'plain',
    });
  });

  it('a package for Python of the same name is none of these', () => {
    expect(new Hosts(hosts, []).find({ name: 'mcp-use', version: '1.7.0' }, undefined).profile).toBeUndefined();
  });

  it('each is tested here', () => {
    const tested = new Set([...CLIENTS.map(([, , profile]) => profile), 'open-webui', 'mastra']);
    expect(hosts.map(({ name }) => name).sort()).toEqual([...tested].sort());
  });
});

describe('every profile', () => {
  it.each(hosts.map((host) => [host.name, host] as const))('%s names a source for each fact', (_name, profile) => {
    for (const fact of Object.values(profile.behaviour)) expect(fact.source).toMatch(/\S{2}/);
    const { versions } = profile.match;
    expect(versions === undefined || isVersionRange(versions)).toBe(true);
    const { images, user } = profile.behaviour;
    const isSeen = images.is.reach === 'model' || (images.is.reach === 'nothing' && user.is === 'blocks');
    expect(treatmentFor(profile.behaviour).images === 'drop').toBe(!isSeen);
  });

  it('has a name of its own', () => {
    expect(new Set(hosts.map(({ name }) => name)).size).toBe(hosts.length);
  });
});

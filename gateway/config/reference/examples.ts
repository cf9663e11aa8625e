/**
 * One example per section of the config, as a file would hold it. CONFIG.md shows them, and so does the JSON Schema as
 * `examples`; a test loads each. Adapters have theirs in the `examples` of their own settings.
 */
export const EXAMPLES: Readonly<Record<string, unknown>> = {
  servers: {
    docs: { url: 'http://docs:3001/mcp', headers: { Authorization: `Bearer \${DOCS_TOKEN}` } },
    old: { url: 'http://old:3002/sse', transport: 'legacy-sse', limits: { file: '20MB' } },
    ocr: {
      command: ['node', 'ocr.js'],
      env: { LANG: 'C.UTF-8' },
      tools: {
        read_picture: {
          files: {
            image_base64: { encoding: 'base64', accept: ['image/png', 'image/jpeg'], maxSize: '5MB', name: 'filename' },
            'pages[].data': { encoding: 'dataUri' },
          },
          results: { text: 'json', files: ['pages[].image'] },
        },
      },
      uploadTool: 'off',
    },
  },
  links: { style: 'gateway', ttl: '1h' },
  limits: { file: '500MB', inlineImage: '200kB', partMemory: '256MiB' },
  callers: [{ limits: { requestsPerMinute: 600, storedBytes: '5GB' } }],
  ceiling: { requestsPerMinute: 3000, storedBytes: '50GB' },
  timeouts: { upstream: '5m', drain: '1m' },
  antivirus: { use: 'none' },
  telemetry: { use: 'none' },
  auth: {
    use: 'apiKeys',
    keys: [{ name: 'ci', hash: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }],
  },
  console: {
    users: [
      {
        name: 'ann',
        hash: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        role: 'operator',
      },
    ],
  },
  uploadTool: { request: 'ask_for_upload', link: 'fresh_link' },
  elicitation: { order: ['url'], rounds: 1, identity: 'code' },
  flow: [
    { allow: { from: 'docs', to: '*', types: ['text/*'] } },
    { deny: { from: 'docs' } },
    { ask: { types: ['application/pdf'], over: '1MB' } },
  ],
  handoff: [{ from: 'docs', to: '*', allow: false }],
  fetch: { allowedHosts: ['files.example.com', '*.example.org', 'intranet.example.com:8443'] },
};

/** Top-level keys with a single value. */
export const TOP_LEVEL_EXAMPLE = {
  listen: '0.0.0.0:8080',
  publicUrl: 'https://mcp.example.com',
  adminListen: '127.0.0.1:9090',
  gatewayId: 'mcp.example.com',
  retention: '24h',
  secret: [`\${WHARF_SECRET}`, `\${WHARF_SECRET_BEFORE}`],
  allowedHosts: ['wharf.internal:8080'],
  allowedOrigins: ['https://app.example.com'],
  logLevel: 'info',
};

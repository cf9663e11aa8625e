// A real MCP server on the official SDK that takes tokens of one issuer for itself, and says where to log in. Arguments:
// its port, the issuer, and the resources that it takes tokens for. Prints its URL.

import { randomUUID } from 'node:crypto';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const [port, issuer, ...resources] = process.argv.slice(2);
const url = new URL(`http://127.0.0.1:${port}/mcp`);
const oauthMetadata = await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json();
const keys = createRemoteJWKSet(new URL(oauthMetadata.jwks_uri));

const verifier = {
  async verifyAccessToken(token) {
    try {
      const { payload } = await jwtVerify(token, keys, { issuer, audience: resources });
      const scopes = String(payload.scope ?? '').split(' ');
      return {
        token,
        clientId: String(payload.client_id),
        scopes,
        expiresAt: payload.exp,
        extra: { sub: payload.sub },
      };
    } catch (error) {
      throw new InvalidTokenError(error instanceof Error ? error.message.replaceAll('"', "'") : 'bad token');
    }
  },
};

function mcpServer() {
  const server = new McpServer({ name: 'protected', version: '1' });
  server.registerTool('whoami', { description: 'says who calls' }, (extra) => ({
    content: [{ type: 'text', text: String(extra.authInfo?.extra?.sub) }],
  }));
  server.registerTool('picture', { description: 'a picture' }, () => ({
    content: [{ type: 'image', mimeType: 'image/png', data: Buffer.alloc(600_000, 7).toString('base64') }],
  }));
  server.registerTool('delete', { description: 'needs the scope hr:files' }, () => ({
    content: [{ type: 'text', text: 'deleted' }],
  }));
  return server;
}

const sessions = new Map();
const app = createMcpExpressApp();
const metadata = `http://127.0.0.1:${port}/.well-known/oauth-protected-resource/mcp`;
app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: url, scopesSupported: ['mcp'] }));
app.use('/mcp', requireBearerAuth({ verifier, requiredScopes: ['mcp'], resourceMetadataUrl: metadata }));
app.all('/mcp', async (request, response) => {
  if (request.body?.params?.name === 'delete' && !request.auth.scopes.includes('hr:files')) {
    const challenge = `Bearer error="insufficient_scope", scope="mcp hr:files", resource_metadata="${metadata}"`;
    response.set('WWW-Authenticate', challenge).status(403).json({ error: 'insufficient_scope' });
    return;
  }
  let transport = sessions.get(request.headers['mcp-session-id']);
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await mcpServer().connect(transport);
  }
  await transport.handleRequest(request, response, request.body);
});
app.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${url}\n`));

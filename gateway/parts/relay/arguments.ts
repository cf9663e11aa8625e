import { storeFile } from '../../files/store-file.js';
import { incomingFetch } from '../../relay/arguments/incoming-fetch.js';
import { elicitationFor } from '../../relay/asking/declared.js';
import type { CommonDeps } from '../../relay/common-deps.js';
import type { RelayDeps } from '../../relay/deps.js';
import type { ServerParts } from './shared-parts.js';

type ArgumentParts = Pick<RelayDeps, 'incoming' | 'uploadLinks' | 'elicitation' | 'storeInline'>;

/** How files in a call are read, and handed to the server. */
export function argumentDeps(common: CommonDeps, { parts }: ServerParts): ArgumentParts {
  const { config, ingest, library } = parts;
  const { limits, timeouts, pace, transfer, dialects } = common;
  const { allowedHosts } = config.fetch;
  return {
    incoming: {
      library,
      shortFiles: parts.shortFiles,
      uses: parts.uses,
      flow: parts.flow,
      antivirus: ingest.antivirus,
      audit: parts.audit,
      accept: limits.accept,
      fetch: incomingFetch({ ingest, library, transfer, timeouts, pace, allowedHosts, fileLimit: limits.file }),
    },
    uploadLinks: parts.uploadLinks,
    elicitation: (client) => elicitationFor(client, { order: config.elicitation.order, dialects, limits }),
    storeInline: (file, principal, signal) =>
      storeFile(
        {
          bytes: file.read(),
          claims: { mimeType: file.mimeType, ...(file.hasName && { name: file.name }) },
          principal,
          subject: 'file',
          limit: { name: 'limits.file', bytes: limits.file, path: 'the argument' },
        },
        { ingest, library },
        signal,
      ),
  };
}

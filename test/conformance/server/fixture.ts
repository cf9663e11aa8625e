/** The shapes every fixture of the suite is written in, whichever protocol era serves it. */

/** A content block as the wire has it; the SDK's own types differ between its two majors. */
export type Block = Record<string, unknown> & { type: string };

/** What a running tool may do besides returning: each server era supplies its own way to do it. */
export interface Talk {
  progress(progress: number, total: number): Promise<void>;
  log(level: 'info', data: string): Promise<void>;
  /** Asks the client's model; absent where the era has no requests from the server. */
  sample?(prompt: string): Promise<string>;
  /** Asks the client's user; absent where the era has no requests from the server. */
  elicit?(message: string, requestedSchema: Record<string, unknown>): Promise<unknown>;
  /** Ends the response's SSE stream so that the client has to resume; absent without resumable streams. */
  closeStream?(): void;
  signal: AbortSignal;
}

export interface ToolResult {
  content: Block[];
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
}

export interface Tool {
  name: string;
  description: string;
  inputSchema: { type: 'object' } & Record<string, unknown>;
  run(args: Record<string, unknown>, talk: Talk): ToolResult | Promise<ToolResult>;
}

export interface Prompt {
  name: string;
  description: string;
  arguments?: { name: string; description: string; required: boolean }[];
  messages(args: Record<string, string>): { role: 'user'; content: Block }[];
}

export interface Resource {
  uri: string;
  name: string;
  description: string;
  mimeType: string;
  contents: { text: string } | { blob: string };
}

/** Schema of a tool that takes nothing. */
export const NO_ARGUMENTS = { type: 'object', properties: {} } as const;

export const text = (value: string): Block => ({ type: 'text', text: value });

export const textResult = (value: string): ToolResult => ({ content: [text(value)] });

/** A pause that ends at once when the request is cancelled. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

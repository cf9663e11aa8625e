import type { GetStream } from './get-stream.js';
import type { PostStream } from './post-stream.js';

/** The stream on which a message reaches its client. */
export type Target = PostStream | GetStream;

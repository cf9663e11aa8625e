import { setTimeout as sleep } from 'node:timers/promises';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';

/** Where a bad answer goes: a response, or standard output. */
export interface Outlet {
  /** Resolves when more may be written. */
  write(bytes: string | Buffer): Promise<void>;
  /** Whether a reader is left. */
  readonly isOpen: boolean;
}

/** Between two pieces of what has no end: some megabytes a second of each answer, where they are read. */
const PIECE_MS = 50;
const BLANKS = ' '.repeat(65_536);
const COMMENTS = `: ${'x'.repeat(1_000)}\n`.repeat(64);
const DRIP_MS = 500;
const LINKS = 300;
const WIDE = 200_000;
/** A PNG of 10 MB of noise: it takes about half a second to render. */
const BOMB_EDGE = 1_820;

type Answer = (outlet: Outlet, id: string) => Promise<void>;

async function forever(outlet: Outlet, piece: () => string): Promise<void> {
  while (outlet.isOpen) {
    await outlet.write(piece());
    await sleep(PIECE_MS);
  }
}

const message = (id: string, result: string) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
const nothing = (id: string) => message(id, '{"content":[]}');

let bomb: string | undefined;
function slowPicture(): string {
  bomb ??= noisePng(BOMB_EDGE).toString('base64');
  return `{"content":[{"type":"image","mimeType":"image/png","data":"${bomb}"}]}`;
}

/** Answers as JSON, by the name of the tool. */
export const JSON_ANSWERS: Record<string, Answer> = {
  async blanks(outlet, id) {
    await outlet.write(nothing(id));
    await forever(outlet, () => BLANKS);
  },
  async endless(outlet, id) {
    await outlet.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
    await forever(outlet, () => 'word '.repeat(13_000));
  },
  async drip(outlet, id) {
    const head = '"result":{"content":[{"type":"image","mimeType":"image/png","data":"';
    await outlet.write(`{"jsonrpc":"2.0","id":${id},${head}${'AAAA'.repeat(200_000)}`);
    while (outlet.isOpen) {
      await outlet.write('AAAA');
      await sleep(DRIP_MS);
    }
  },
  async links(outlet, id) {
    const links = Array.from(
      { length: LINKS },
      (_, n) => `{"type":"resource_link","uri":"bad://link/${n}","name":"${n}"}`,
    );
    await outlet.write(message(id, `{"content":[${links.join(',')}]}`));
  },
  async wide(outlet, id) {
    const members = Array.from({ length: WIDE }, (_, n) => `"k${n}":{}`);
    await outlet.write(message(id, `{"content":[],"structuredContent":{${members.join(',')}}}`));
  },
  async bomb(outlet, id) {
    await outlet.write(message(id, slowPicture()));
  },
  async echo(outlet, id) {
    await outlet.write(nothing(id));
  },
};

const NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"and on"}}';

/** Answers as an event stream, by the name of the tool. */
export const STREAM_ANSWERS: Record<string, Answer> = {
  comments: (outlet) => forever(outlet, () => COMMENTS),
  notifications: (outlet) => forever(outlet, () => `data: ${NOTIFICATION}\n\n`.repeat(10)),
};

/** Answers as lines, by the name of the tool. */
export const LINE_ANSWERS: Record<string, Answer> = {
  async blanks(outlet, id) {
    await outlet.write('\n'.repeat(200_000));
    await outlet.write(`${nothing(id)}\n`);
  },
  async noise(outlet, id) {
    await outlet.write(`{"level":30,"msg":"not JSON-RPC"}\nListening …\n`.repeat(5_000));
    await outlet.write(`${nothing(id)}\n`);
  },
  async drip(outlet, id) {
    const head = '"result":{"content":[{"type":"image","mimeType":"image/png","data":"';
    await outlet.write(`{"jsonrpc":"2.0","id":${id},${head}${'AAAA'.repeat(200_000)}`);
    for (let drop = 0; drop < 60 && outlet.isOpen; drop += 1) {
      await outlet.write('AAAA');
      await sleep(DRIP_MS);
    }
    await outlet.write('"}]}}\n');
  },
  async echo(outlet, id) {
    await outlet.write(`${nothing(id)}\n`);
  },
};

/** The answer to what comes before any call. */
export function opening(method: string | undefined, id: string, names: readonly string[], isWide: boolean): string {
  const info = '"capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}';
  if (method === 'initialize') return message(id, `{"protocolVersion":"2025-06-18",${info}}`);
  if (method !== 'tools/list') return message(id, '{}');
  const properties = isWide ? Array.from({ length: WIDE }, (_, n) => `"p${n}":{"type":"string"}`).join(',') : '';
  const tools = names.map((name) => {
    const own = name === 'wide' ? properties : '';
    return `{"name":"${name}","inputSchema":{"type":"object","properties":{${own}}}}`;
  });
  return message(id, `{"tools":[${tools.join(',')}]}`);
}

import { mostText } from '../../../gateway/policy/amounts.js';
import type { Scan, Verdict } from '../../../gateway/ports/antivirus.js';
import { unavailable } from './connection.js';

/**
 * The test file that every antivirus knows, put together here: a program that holds the string would be found itself.
 * @see https://www.eicar.org
 */
const EICAR = Buffer.from(`X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-${'ANTIVIRUS-TEST'}-FILE!$H+H*`, 'latin1');
const EICAR_CRC = 0x6851cf3c;
const NAME = Buffer.from('eicar.com');

const PIECE = 64 * 1024;

/** A directory's entry and the end of the directory, with the name. */
const TAIL = 46 + NAME.length + 22;

/** A ZIP of this size with the test file in it, behind which nothing comes for a long time. */
function* proofFile(size: number): Generator<Buffer> {
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(20, 4);
  local.writeUInt32LE(EICAR_CRC, 14);
  local.writeUInt32LE(EICAR.length, 18);
  local.writeUInt32LE(EICAR.length, 22);
  local.writeUInt16LE(NAME.length, 26);
  const head = Buffer.concat([local, NAME, EICAR]);
  yield head;
  const gap = size - head.length - TAIL;
  const zeros = Buffer.alloc(PIECE);
  for (let left = gap; left > 0; left -= PIECE) yield zeros.subarray(0, Math.min(left, PIECE));
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(20, 4);
  entry.writeUInt16LE(20, 6);
  entry.writeUInt32LE(EICAR_CRC, 16);
  entry.writeUInt32LE(EICAR.length, 20);
  entry.writeUInt32LE(EICAR.length, 24);
  entry.writeUInt16LE(NAME.length, 28);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(46 + NAME.length, 12);
  end.writeUInt32LE(head.length + gap, 16);
  yield Buffer.concat([entry, NAME, end]);
}

/**
 * Makes sure that "OK" means something: that signatures are loaded, and that a file of `maxSize` bytes is scanned. clamd
 * passes what is larger than its `MaxFileSize` or `MaxScanSize` with `stream: OK`, unless `AlertExceedsMax` is on.
 * @throws GatewayError `antivirus_unavailable`
 */
export async function prove(begin: () => Promise<Scan>, maxSize: number): Promise<void> {
  const small = await scanned(await begin(), [EICAR]);
  if (small.kind !== 'infected') throw unavailable('it does not find the EICAR test file: has it no signatures?');
  const large = await scanned(await begin(), proofFile(maxSize));
  if (large.kind !== 'clean') return;
  throw unavailable(
    `it passes a file of ${mostText(maxSize)} unscanned: set AlertExceedsMax yes in clamd.conf, and MaxFileSize and MaxScanSize to antivirus.maxSizeMiB`,
  );
}

async function scanned(scan: Scan, pieces: Iterable<Buffer>): Promise<Verdict> {
  try {
    for (const piece of pieces) await scan.write(piece);
    return await scan.end();
  } finally {
    scan.abort();
  }
}

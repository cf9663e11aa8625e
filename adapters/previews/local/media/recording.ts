import type { ContentFacts } from '../../../../gateway/ports/previewer.js';
import type { Ranges } from '../content/ranges.js';
import type { RenderResult } from '../protocol.js';
import { factsOfFlac, factsOfOgg, factsOfWave } from './audio.js';
import { factsOfMatroska } from './matroska.js';
import { factsOfMp3 } from './mp3.js';
import { factsOfMp4 } from './mp4.js';

/** The headers of most formats are within it. */
const HEAD_BYTES = 64 * 1024;
/** A year: a longer duration is a damaged header. */
const LONGEST_SECONDS = 366 * 24 * 3600;

/** The duration of audio and video, where the header says it. Nothing is decoded. */
export async function factsOfRecording(file: Ranges): Promise<RenderResult> {
  const head = await file.read(0, HEAD_BYTES);
  const facts = await readHeader(head, file);
  if (facts === undefined) return { kind: 'refused', reason: 'unsupported' };
  const { seconds, pixels } = facts;
  const isSane = seconds !== undefined && seconds > 0 && seconds <= LONGEST_SECONDS;
  if (!isSane) return { kind: 'refused', reason: 'invalid' };
  return { kind: 'rendered', preview: { facts: { seconds, ...(pixels && { pixels }) } } };
}

async function readHeader(head: Buffer, file: Ranges): Promise<ContentFacts | undefined> {
  const ascii = head.toString('latin1', 0, 12);
  if (ascii.startsWith('RIFF') && ascii.startsWith('WAVE', 8)) return factsOfWave(head, file.size);
  if (ascii.startsWith('fLaC')) return factsOfFlac(head);
  if (ascii.startsWith('OggS')) return factsOfOgg(head, file);
  if (ascii.startsWith('ftyp', 4)) return factsOfMp4(file);
  if (ascii.startsWith('\x1a\x45\xdf\xa3')) return factsOfMatroska(head);
  return factsOfMp3(head, file);
}

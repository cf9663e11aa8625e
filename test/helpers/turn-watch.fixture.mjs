// Preloaded into a gateway (`node --import`): tells over IPC how long its longest turn of the event loop was.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Turns shorter than this are not told apart. */
const TICK_MS = 5;

/** What the thread of the event loop has taken of the CPU: proc(5), schedstat. Others collect its garbage beside it. */
const ownTime = () => Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6;

const processTime = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const cpuMs = existsSync('/proc/self/schedstat') ? ownTime : processTime;

let longest = { wallMs: 0, cpuMs: 0 };
let wall = performance.now();
let cpu = cpuMs();

/** A turn counts what it took of the CPU, for on a busy machine it may only have been waiting for its turn there. */
const tick = () => {
  const now = performance.now();
  const used = cpuMs();
  const wallMs = now - wall;
  const ownMs = Math.min(wallMs, used - cpu);
  if (ownMs > longest.cpuMs) longest = { ...longest, cpuMs: ownMs };
  if (wallMs > longest.wallMs) longest = { ...longest, wallMs };
  wall = now;
  cpu = used;
};
setInterval(tick, TICK_MS).unref();

const memory = () => {
  const text = readFileSync('/proc/self/status', 'latin1');
  const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
  return { rss: of('VmRSS'), peakRss: of('VmHWM') };
};

process.on('message', (message) => {
  if (message?.watch === 'reset') {
    globalThis.gc?.();
    try {
      // the peak begins anew: proc(5), clear_refs
      writeFileSync('/proc/self/clear_refs', '5');
    } catch {
      // not on this kernel: peaks are those of the process
    }
    longest = { wallMs: 0, cpuMs: 0 };
    wall = performance.now();
    cpu = cpuMs();
    process.send({ watch: { ...longest, ...memory() } });
  } else if (message?.watch === 'read') {
    tick();
    process.send({ watch: { ...longest, ...memory() } });
  }
});
process.channel?.unref();

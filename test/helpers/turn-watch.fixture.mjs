// Preloaded into a gateway (`node --import`): tells over IPC how long its longest turn of the event loop was.
import { readFileSync, writeFileSync } from 'node:fs';

/** Turns shorter than this are not told apart. */
const TICK_MS = 5;

let longest = { wallMs: 0, cpuMs: 0 };
let wall = performance.now();
let cpu = process.cpuUsage();

/** A turn counts what it took of the CPU, for on a busy machine it may only have been waiting for its turn there. */
const tick = () => {
  const now = performance.now();
  const used = process.cpuUsage();
  const wallMs = now - wall;
  const cpuMs = Math.min(wallMs, (used.user + used.system - cpu.user - cpu.system) / 1000);
  if (cpuMs > longest.cpuMs) longest = { ...longest, cpuMs };
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
    cpu = process.cpuUsage();
    process.send({ watch: { ...longest, ...memory() } });
  } else if (message?.watch === 'read') {
    tick();
    process.send({ watch: { ...longest, ...memory() } });
  }
});
process.channel?.unref();

import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

const TICKS_PER_SECOND = 100;

/** CPU seconds of this process and of every child that has ended, theirs included. */
function ownSeconds(): number {
  const text = readFileSync('/proc/self/stat', 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

/** CPU seconds of the whole machine that were not idle; what a hypervisor took away counts as busy. */
function machineSeconds(): number {
  const [, user, nice, system, , , irq, softirq, steal] = (readFileSync('/proc/stat', 'latin1').split('\n')[0] ?? '')
    .split(/ +/)
    .map(Number);
  return (
    [user, nice, system, irq, softirq, steal].reduce<number>((sum, ticks) => sum + (ticks ?? 0), 0) / TICKS_PER_SECOND
  );
}

/**
 * Begins to watch what else keeps the machine busy: on a loaded one a ratio favours the gateway that needs less CPU.
 * @returns called at the end, when every child has ended: the share (0 … 1) of all cores' time that others took
 */
export function watchBystanders(): () => number {
  const [began, own, machine] = [performance.now(), ownSeconds(), machineSeconds()];
  return () => {
    const others = machineSeconds() - machine - (ownSeconds() - own);
    return Math.max(0, others) / (((performance.now() - began) / 1000) * cpus().length);
  };
}

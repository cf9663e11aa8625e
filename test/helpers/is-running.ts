/** Whether there is a process with this id. @throws Error for what is not an id, which would look like a process that has ended */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) throw new Error(`${pid} is not the id of a process`);
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

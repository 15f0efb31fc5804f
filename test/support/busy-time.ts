// How long something keeps this process busy: the processor's time, which other processes on the machine do not add to.

/** Returns the milliseconds of the processor that this process has taken since the given reading, or since it began. */
export function busyMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

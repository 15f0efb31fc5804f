// CPU time of this process, which excludes other programs on the machine.

/** Returns the CPU milliseconds of this process since the given reading, or since its start. */
export function busyMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

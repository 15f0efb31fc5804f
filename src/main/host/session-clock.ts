// The clock of a session.

/** `Date.now` is rounded, and corrected in small steps. */
const TOLERANCE_MS = 1_000;

/**
 * Returns a clock in milliseconds for the age of a provider's cache. It never goes back. `performance.now` stands still on some
 * systems while a laptop or a virtual machine sleeps, so the time of day counts where it has gone on for longer. If somebody
 * sets that forward, a cache is taken for cold once; setting it back has no effect.
 */
export function sessionClock(): () => number {
  let [steadyMs, dayMs] = [performance.now(), Date.now()];
  let nowMs = steadyMs;
  return () => {
    const [steadyNowMs, dayNowMs] = [performance.now(), Date.now()];
    const [steady, day] = [steadyNowMs - steadyMs, dayNowMs - dayMs];
    nowMs += day - steady > TOLERANCE_MS ? day : steady;
    [steadyMs, dayMs] = [steadyNowMs, dayNowMs];
    return nowMs;
  };
}

// The clock of a session.

/** `Date.now` may lead by this much without effect: it is rounded, and the system corrects it in small steps. */
const TOLERANCE_MS = 1_000;

/**
 * Returns a monotonic clock in milliseconds for the age of a provider's cache. On some systems `performance.now` stops while a laptop
 * or a virtual machine sleeps, so between two calls the time of day counts if it has advanced further. If somebody sets the time of
 * day forward, a cache counts as cold once; setting it back has no effect.
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

// Is loaded into the process of a gateway beside it, and tells its parent how it is: nothing of the gateway is changed.

import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How a process has been since it was asked last. */
export interface GatewayVitals {
  /** The longest that its event loop stood still. */
  readonly longestPauseMs: number;
  readonly residentBytes: number;
  /** The most that it ever had. */
  readonly peakBytes: number;
}

/** How often is looked: what a timer is late for by itself. */
const RESOLUTION_MS = 1;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();

process.on('message', () => {
  const vitals: GatewayVitals = {
    longestPauseMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
    residentBytes: process.memoryUsage.rss(),
    peakBytes: process.resourceUsage().maxRSS * 1_024,
  };
  delay.reset();
  process.send?.(vitals);
});
// Who listens to a parent stays alive for it.
process.channel?.unref();

// Preloaded into a gateway's process to report its vitals to the parent, without changes to the gateway.

import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The vitals of a process since the last request for them. */
export interface GatewayVitals {
  /** The longest pause of its event loop. */
  readonly longestPauseMs: number;
  readonly residentBytes: number;
  /** Its peak memory so far. */
  readonly peakBytes: number;
}

/** The sampling interval, which every measured delay includes. */
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
// A listener on the channel would keep the process alive.
process.channel?.unref();

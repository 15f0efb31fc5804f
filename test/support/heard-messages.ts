// Records the messages of a diagnostics channel during a test.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { onTestFinished } from 'vitest';

import type { TelemetryMessages } from '../../src/main/telemetry/channels.js';

/** Listens until the test ends. The array grows with every message. */
export function hear<Name extends keyof TelemetryMessages>(
  name: Name,
): readonly TelemetryMessages[Name][] {
  const heard: TelemetryMessages[Name][] = [];
  const listener = (message: unknown): void => {
    heard.push(message as TelemetryMessages[Name]);
  };
  subscribe(name, listener);
  onTestFinished(() => void unsubscribe(name, listener));
  return heard;
}

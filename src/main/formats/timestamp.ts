// Timestamps of recordings.

import type { JsonRecord } from '../../shared/json.js';
import type { RecordedMetadata } from './history-assembler.js';

/** Smaller numbers are seconds: as milliseconds they would be before March 1973, and as seconds they are before the year 5139. */
const MIN_MILLISECONDS = 1e11;
/** From here on, numbers are microseconds (as milliseconds they would be after the year 5138) and then, by the same factor, nanoseconds. */
const MIN_MICROSECONDS = 1_000 * MIN_MILLISECONDS;
const MIN_NANOSECONDS = 1_000 * MIN_MICROSECONDS;

/**
 * Returns milliseconds since the epoch, from a date string or a number of seconds, milliseconds, microseconds or nanoseconds;
 * `undefined` for anything else, and for what no date can hold.
 */
export function asTimestamp(value: unknown): number | undefined {
  const isTime = typeof value === 'string' || typeof value === 'number';
  const time = isTime
    ? new Date(typeof value === 'number' ? inMilliseconds(value) : value).getTime()
    : NaN;
  return Number.isNaN(time) ? undefined : time;
}

function inMilliseconds(time: number): number {
  const size = Math.abs(time);
  if (size < MIN_MILLISECONDS) return time * 1_000;
  if (size < MIN_MICROSECONDS) return time;
  return time / (size < MIN_NANOSECONDS ? 1e3 : 1e6);
}

/** Returns the metadata that a record's `timestamp` field gives. */
export function timeOf(record: JsonRecord): RecordedMetadata {
  return { timestamp: asTimestamp(record['timestamp']) };
}

// Timestamps of recordings.

import type { JsonRecord } from '../../shared/json.js';
import type { RecordedMetadata } from './history-assembler.js';

/** Smaller numbers are seconds: as milliseconds they would be before March 1973, and as seconds they are before the year 5139. */
const MIN_MILLISECONDS = 1e11;

/**
 * Returns milliseconds since the epoch, from a number of seconds or milliseconds or a date string; `undefined` for anything else, and
 * for what no date can hold, such as a number of nanoseconds.
 */
export function asTimestamp(value: unknown): number | undefined {
  const isTime = typeof value === 'string' || typeof value === 'number';
  const isSeconds = typeof value === 'number' && Math.abs(value) < MIN_MILLISECONDS;
  const time = isTime ? new Date(isSeconds ? value * 1000 : value).getTime() : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Returns the metadata that a record's `timestamp` field gives. */
export function timeOf(record: JsonRecord): RecordedMetadata {
  return { timestamp: asTimestamp(record['timestamp']) };
}

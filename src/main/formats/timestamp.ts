// Timestamps of recordings.

import type { ContentMetadata } from '../../shared/content.js';
import { withoutUndefined, type JsonRecord } from '../../shared/json.js';

/**
 * Returns milliseconds since the epoch, from a number of milliseconds or a date string; `undefined` for anything else, and for what no
 * date can hold, such as a number of nanoseconds.
 */
export function asTimestamp(value: unknown): number | undefined {
  const isTime = typeof value === 'string' || typeof value === 'number';
  const time = isTime ? new Date(value).getTime() : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Returns the metadata that a record's `timestamp` field gives. */
export function timeOf(record: JsonRecord): ContentMetadata {
  return withoutUndefined({ timestamp: asTimestamp(record['timestamp']) });
}

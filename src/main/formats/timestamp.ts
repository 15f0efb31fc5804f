// Timestamps of recordings.

import type { ContentMetadata } from '../../shared/content.js';
import { withoutUndefined, type JsonRecord } from '../../shared/json.js';

/** Returns milliseconds since the epoch, from a number of milliseconds or a date string; `undefined` for anything else. */
export function asTimestamp(value: unknown): number | undefined {
  const timestamp = typeof value === 'string' ? Date.parse(value) : value;
  return typeof timestamp === 'number' && Number.isFinite(timestamp) ? timestamp : undefined;
}

/** Returns the metadata that a record's `timestamp` field gives. */
export function timeOf(record: JsonRecord): ContentMetadata {
  return withoutUndefined({ timestamp: asTimestamp(record['timestamp']) });
}

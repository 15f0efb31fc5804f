// The times that recordings tell. No clock is asked.

/** Milliseconds since the epoch of a number in milliseconds or of a date text. */
export function asTimestamp(value: unknown): number | undefined {
  const timestamp = typeof value === 'string' ? Date.parse(value) : value;
  return typeof timestamp === 'number' && Number.isFinite(timestamp) ? timestamp : undefined;
}

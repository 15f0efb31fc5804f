// Cuts a text loose from the one that it is a part of.

/**
 * A copy that is no part of a longer string. A text that was cut out of another one, or put together of
 * several, would keep all of these in memory for as long as it is kept itself.
 */
export function ownString(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

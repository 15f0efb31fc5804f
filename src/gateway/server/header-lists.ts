// Headers as they came, in their order and spelling, without those that concern one connection alone.

/** Ends of names and values by turns, as Node gives them. */
export type RawHeaders = readonly string[];

const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the headers of a message that are for its other end. */
export function endToEnd(headers: RawHeaders, without: readonly string[] = []): string[] {
  const dropped = new Set([...OF_CONNECTION, ...without]);
  for (const [name, value] of pairs(headers)) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const listed of value.split(',')) dropped.add(listed.trim().toLowerCase());
  }
  return pairs(headers)
    .filter(([name]) => !dropped.has(name.toLowerCase()))
    .flat();
}

/** Names with their values. */
export function pairs(headers: RawHeaders): [name: string, value: string][] {
  return Array.from({ length: headers.length >> 1 }, (_, at) => [
    headers[at * 2] ?? '',
    headers[at * 2 + 1] ?? '',
  ]);
}

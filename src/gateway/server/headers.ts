// The heads of messages as Node receives them: which headers are end-to-end, and how a head is written to a socket.

import type { IncomingMessage } from 'node:http';

/** Hop-by-hop headers. */
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

/** Characters that Node accepts when it parses a status line, but refuses to write. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;

/** Returns the end-to-end headers of a message, in their order and spelling. */
export function endToEnd(headers: readonly string[], without: readonly string[] = []): string[] {
  const dropped = new Set([...OF_CONNECTION, ...without]);
  for (const [name, value] of pairs(headers)) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const listed of value.split(',')) dropped.add(listed.trim().toLowerCase());
  }
  return pairs(headers)
    .filter(([name]) => !dropped.has(name.toLowerCase()))
    .flat();
}

/** Converts Node's raw headers, a flat list of names and values, to pairs. */
export function pairs(headers: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: headers.length >> 1 }, (_, at) => [
    headers[at * 2] ?? '',
    headers[at * 2 + 1] ?? '',
  ]);
}

/** The reason phrase of an answer; empty if it cannot be written. */
export function reasonPhraseOf({
  statusMessage = '',
}: Partial<Pick<IncomingMessage, 'statusMessage'>>): string {
  return NOT_IN_HEADERS.test(statusMessage) ? '' : statusMessage;
}

/** The bytes of a head, from its first line and raw headers. */
export function writeHead(firstLine: string, headers: readonly string[]): Buffer {
  const lines = pairs(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${firstLine}\r\n${lines.join('')}\r\n`, 'latin1');
}

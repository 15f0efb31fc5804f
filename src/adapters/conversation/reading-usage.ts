// Reads the usage that a provider reports from its answer, a JSON document or a stream of events, while the caller reads that answer.
// Changes no byte of it.

import type { CompactCall } from '../request/adapter-options.js';
import { reportedNumbers } from '../request/provider-usage.js';
import { UsageReader } from '../request/usage-reader.js';

/**
 * Returns a response like the given one that passes its usage on while its body is read. It does so once, because some servers repeat
 * the usage in each event.
 */
export function readingUsage(response: Response, pass: (usage: CompactCall) => void): Response {
  if (!(response instanceof Response) || !response.ok) return response;
  const { status, statusText, headers, url, body } = response;
  if (body === null || body.locked) return response;
  const isStream = !/\bjson\b/i.test(headers.get('content-type') ?? '');
  const read = body.pipeThrough(usageTap(isStream, pass));
  return Object.defineProperty(new Response(read, { status, statusText, headers }), 'url', {
    value: url,
  });
}

/** Returns a stream that passes bytes on unchanged, and calls `pass` with the usage in them. */
function usageTap(
  isStream: boolean,
  pass: (usage: CompactCall) => void,
): TransformStream<Uint8Array, Uint8Array> {
  const reader = new UsageReader(!isStream, () => {
    const { usage = {}, missReason, hasServerCalls, refusal } = reader;
    if (refusal !== undefined) pass({ refusal });
    else pass(hasServerCalls ? {} : reportedNumbers(usage, missReason));
  });
  return new TransformStream({
    transform: (chunk, controller) => {
      controller.enqueue(chunk);
      reader.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    },
    flush: () => {
      reader.end();
    },
  });
}

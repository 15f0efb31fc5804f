// Reads the usage that a provider reports from its answer, a JSON document or a stream of events, while the caller reads that answer.
// Changes no byte of it.

import { REFUSED_IN_STREAM } from '../../main/models/model-limits.js';
import { asRecord, tryParseJson } from '../../shared/json.js';
import type { CompactCall } from '../request/adapter-options.js';
import { reportedBy } from '../request/provider-usage.js';

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

const USAGE = /"usage"\s*:\s*\{/;
const DONE = /^data:\s*\[DONE\]/;
/** Limit for the characters of a JSON answer, or of one line of a stream. No usage is read from longer ones. */
const MAX_HELD = 16 * 1024 * 1024;

/** Returns a stream that passes bytes on unchanged, and then calls `pass` with the usage in them. */
function usageTap(
  isStream: boolean,
  pass: (usage: CompactCall) => void,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let held = 0;
  let usage: CompactCall | undefined;
  let isPassed = false;
  const hold = (text: string): void => {
    held += text.length;
    parts.push(text);
    if (held > MAX_HELD) parts = [];
  };
  /** Reads usage or a refusal from a line. Returns whether none is expected after it. */
  const readLine = (line: string): boolean => {
    const [refusal] = REFUSED_IN_STREAM.exec(line) ?? [];
    if (refusal !== undefined) usage = { refusal };
    if (refusal !== undefined || !USAGE.test(line)) return refusal !== undefined || DONE.test(line);
    const said = asRecord(tryParseJson(line.replace(/^data:/, '')));
    // The first event of Anthropic's API and the last one of the Responses API have an answer with its usage.
    const answer = asRecord(said?.['response'] ?? said?.['message']);
    usage = reportedBy(answer ?? said);
    return answer !== undefined;
  };
  const end = (): void => {
    if (usage !== undefined && !isPassed) pass(usage);
    isPassed ||= usage !== undefined;
  };
  return new TransformStream({
    transform: (chunk, controller) => {
      controller.enqueue(chunk);
      const text = decoder.decode(chunk, { stream: true });
      const lineEnd = isStream ? text.lastIndexOf('\n') : -1;
      hold(lineEnd === -1 ? text : text.slice(0, lineEnd));
      if (lineEnd === -1) return;
      // Usage is passed on at once, because the reader of the answer may stop before the end of its body.
      for (const line of parts.join('').split('\n')) if (readLine(line)) end();
      [parts, held] = [[], 0];
      hold(text.slice(lineEnd + 1));
    },
    flush: () => {
      readLine(parts.join(''));
      end();
    },
  });
}

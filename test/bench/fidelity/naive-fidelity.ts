// A second implementation of what the measurement counts, to hold the real one against: it joins all
// texts of a context and searches them. Shares no code with the first one, and is not meant to be fast.

import { estimateEntryTokens } from '../../../src/index.js';
import type { ContentBlock, IContent } from '../../../src/index.js';
import type { Policy } from '../../../bench/fidelity/policies.js';
import type { RecordedSession } from '../../../bench/fidelity/recorded-session.js';

/** All that a model can read in a block; where a string is JSON, what it encodes as well. */
export function naiveText(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'code') return block.code;
  if (block.type === 'tool_call') return naiveStrings(block.parameters);
  if (block.type !== 'tool_response') return '';
  return `${naiveStrings(block.result)}\n${block.error ?? ''}`;
}

function naiveStrings(value: unknown): string {
  if (typeof value === 'string') {
    if (!value.trimStart().startsWith('{') && !value.trimStart().startsWith('[')) return value;
    try {
      return `${value}\n${naiveStrings(JSON.parse(value))}`;
    } catch {
      return value;
    }
  }
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(naiveStrings).join('\n');
}

/** The counts of `measure`, with the lost edits as `entry/call/file`. */
export function naiveMeasure(
  session: RecordedSession,
  policy: Policy,
): { lost: string[]; tokens: number; rewrites: number } {
  const { entries } = session.transcript;
  const send = policy.start(session);
  const lost: string[] = [];
  let tokens = 0;
  let rewrites = 0;
  let previous: readonly IContent[] = [];
  let from = 0;
  for (let at = 0; at < entries.length; at += 1) {
    if (entries[at]!.speaker !== 'ai') continue;
    const context = [...send(entries.slice(from, at))];
    from = at;
    tokens += context.map(estimateEntryTokens).reduce((sum, each) => sum + each, 0);
    const isKept = previous.slice(0, -1).every((entry, index) => entry === context[index]);
    if (!isKept) rewrites += 1;
    previous = context;
    const text = context.flatMap(({ blocks }) => blocks.map(naiveText)).join('\n');
    for (const { entry, callId, file, lines } of session.edits) {
      if (entry === at && !lines.every((line) => text.includes(line))) {
        lost.push(`${entry}/${callId}/${file}`);
      }
    }
  }
  return { lost, tokens, rewrites };
}

// Renders a history as text that any model can read and no provider can reject: one JSON object per line, no tool blocks,
// nothing that breaks a line or looks like a frame.

import { hasSubstance } from '../../shared/content.js';
import type { ContentBlock, IContent, ToolResponseBlock } from '../../shared/content.js';
import { OpenCalls } from '../../shared/density/index/open-calls.js';
import { surrogateSafe } from '../../shared/shown-text.js';
import { payloadText } from '../../shared/tokens/content-text.js';
import { cleanText, disarmJson } from './frame.js';

/** Longer tool payloads are cut: only their head and tail are shown. */
const MAX_PAYLOAD_CHARACTERS = 30_000;
/** Names, captions and error messages are repeated in every part, so they are kept short. */
const MAX_FIELD_CHARACTERS = 1_000;

/**
 * Returns the lines of the given entries. Texts longer than `maxPartCharacters` continue in further lines with part numbers.
 * Reasoning, media data and blank blocks are left out; an opaque block is represented by its kind.
 */
export function flattenHistory(
  entries: readonly IContent[],
  maxPartCharacters: number,
): readonly string[] {
  const lines: string[] = [];
  const uses = new ToolUseNumbers();
  entries.forEach(({ speaker, blocks, metadata }, index) => {
    const from = metadata?.isSummary === true ? 'earlier summary' : speaker;
    const head = { entry: index + 1, from };
    for (const block of blocks) {
      const shown = hasSubstance(block) ? describeBlock(block, uses) : undefined;
      if (shown === undefined) continue;
      for (const part of splitLongText(shown, maxPartCharacters)) {
        lines.push(jsonLine({ ...head, ...shown.fields, ...part }));
      }
    }
  });
  return lines;
}

/** Returns a value as a line of JSON that is safe inside a frame. */
export function jsonLine(value: unknown): string {
  return disarmJson(JSON.stringify(value));
}

/** What is shown of a block: short fields, and one text that may be long. */
interface ShownBlock {
  readonly fields: Readonly<Record<string, string | number | boolean>>;
  readonly longField: string;
  readonly longText: string;
}

function describeBlock(block: ContentBlock, uses: ToolUseNumbers): ShownBlock | undefined {
  switch (block.type) {
    case 'text':
      return shown({}, 'text', cleanText(block.text));
    case 'code':
      return shown(optionalField('language', block.language), 'code', cleanText(block.code));
    case 'tool_call':
      return shown(
        { ...optionalField('tool', block.name), use: uses.ofCall(block.id) },
        'parameters',
        shortened(cleanText(payloadText(block.parameters)), MAX_PAYLOAD_CHARACTERS),
      );
    case 'tool_response':
      return shown(
        {
          ...optionalField('tool', block.toolName),
          use: uses.ofResponse(block),
          ...(block.isComplete === false && { running: true }),
          ...optionalField('error', block.error),
        },
        'result',
        shortened(cleanText(payloadText(block.result)), MAX_PAYLOAD_CHARACTERS),
      );
    case 'media':
      return shown(
        {
          ...optionalField('filename', block.filename),
          ...optionalField('caption', block.caption),
        },
        'media',
        cleanText(block.mimeType),
      );
    case 'opaque':
      // Costs a few tokens, and tells the model that something happened here.
      return shown({}, 'opaque', cleanText(block.kind));
    case 'thinking':
      return undefined;
  }
}

function shown(fields: ShownBlock['fields'], longField: string, longText: string): ShownBlock {
  return { fields, longField, longText };
}

function optionalField(name: string, text: string | undefined): ShownBlock['fields'] {
  return text === undefined || text === ''
    ? {}
    : { [name]: shortened(cleanText(text), MAX_FIELD_CHARACTERS) };
}

function splitLongText(
  { longField, longText }: ShownBlock,
  maxPartCharacters: number,
): readonly Readonly<Record<string, string | number>>[] {
  if (longText.length <= maxPartCharacters) return [{ [longField]: longText }];
  const parts: Record<string, string | number>[] = [];
  for (let start = 0; start < longText.length;) {
    const end = surrogateSafe(longText, Math.min(start + maxPartCharacters, longText.length));
    parts.push({ part: parts.length + 1, [longField]: longText.slice(start, end) });
    start = end;
  }
  return parts;
}

/** Keeps the head and the tail of a text, in the ratio 2 : 1. */
function shortened(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const headEnd = surrogateSafe(text, Math.floor((maxCharacters * 2) / 3));
  const tailStart = surrogateSafe(text, text.length - Math.floor(maxCharacters / 3));
  const left = tailStart - headEnd;
  return `${text.slice(0, headEnd)}\n[… ${left} characters left out …]\n${text.slice(tailStart)}`;
}

/** Numbers tool calls, so that the model can match results with calls: call ids may be long, or repeat. */
class ToolUseNumbers {
  readonly #open = new OpenCalls();
  #count = 0;

  ofCall(id: string): number {
    this.#open.add(id, ++this.#count);
    return this.#count;
  }

  /** 0 for a response whose call is not shown. */
  ofResponse({ callId, isComplete }: ToolResponseBlock): number {
    return Math.max(0, isComplete === false ? this.#open.newest(callId) : this.#open.take(callId));
  }
}

// Logs the edits that landed in a conversation: rule, tool, size, and the original text while it is kept. Reports contain no
// content; originals are returned only on request.

import type { EntryChange } from '../../main/history-change.js';
import type { ContentBlock } from '../../shared/content.js';
import { payloadText } from '../../shared/tokens/content-text.js';
import type {
  PrunedEvent,
  CompressedEvent,
  FittedEvent,
} from '../../main/preflight/session-events.js';
import type { Session } from '../../main/session.js';
import type { EditReport } from './protocol.js';

/** Originals kept per conversation; the oldest is dropped first. */
const MAX_ORIGINALS = 500;
const MAX_ORIGINAL_CHARACTERS = 200_000;
/** Tool names come from clients, so names that do not match are not shown. */
const PLAIN_NAME = /^[\w.:/-]{1,64}$/;

/** A session, and the log of its edits. */
export class WatchedSession {
  readonly session: Session;
  #fresh: EditReport[] = [];
  #count = 0;
  readonly #originals = new Map<number, ContentBlock>();

  constructor(session: Session) {
    this.session = session;
    session.on('pruned', (event) => {
      this.#notePruned(event);
    });
    session.on('compressed', (event) => {
      this.#noteCompressed(event);
    });
    session.on('fitted', (event) => {
      this.#noteFitted(event);
    });
  }

  /** Returns the edits since the last call. */
  takeEdits(): readonly EditReport[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  /** Returns the text that an edit removed; `undefined` if it is no longer kept. */
  original(number: number): string | undefined {
    const block = this.#originals.get(number);
    return block === undefined ? undefined : textOf(block).slice(0, MAX_ORIGINAL_CHARACTERS);
  }

  #notePruned({ edits, changes }: PrunedEvent): void {
    const byEntry = new Map(changes.map((change) => [change.index, change]));
    for (const { entry, block, rule, action } of edits) {
      if (action === 'companion' || action === 'superseded') continue;
      const change = byEntry.get(entry);
      const before = change?.before.blocks[block];
      if (change === undefined || before === undefined) continue;
      this.#add(rule, action, before, action === 'drop' ? undefined : leftOf(before, change));
    }
  }

  #noteCompressed({ outcome, strategy, tokensBefore, tokensAfter }: CompressedEvent): void {
    if (outcome !== 'applied') return;
    // Reports are in characters, estimated here as four per token.
    this.#push({
      rule: 'compression',
      action: strategy,
      tool: undefined,
      before: tokensBefore * 4,
      after: tokensAfter * 4,
    });
  }

  #noteFitted({ changes }: FittedEvent): void {
    for (const { before, after } of changes) {
      for (const [at, block] of before.blocks.entries()) {
        if (block.type === 'tool_response') this.#add('fit', 'summary', block, after?.blocks[at]);
      }
    }
  }

  #add(rule: string, action: string, before: ContentBlock, after: ContentBlock | undefined): void {
    const tool = toolOf(before);
    this.#originals.set(this.#count, before);
    this.#originals.delete(this.#count - MAX_ORIGINALS);
    this.#push({
      rule,
      action,
      tool: tool !== undefined && PLAIN_NAME.test(tool) ? tool : undefined,
      before: textOf(before).length,
      after: after === undefined ? 0 : textOf(after).length,
    });
  }

  #push(edit: Omit<EditReport, 'number'>): void {
    this.#fresh.push({ number: this.#count, ...edit });
    this.#count += 1;
  }
}

/** Returns what an edit left of a block. Unchanged blocks of its entry are the same objects as before. */
function leftOf(block: ContentBlock, { before, after }: EntryChange): ContentBlock | undefined {
  return after?.blocks.find((now) => isMadeFrom(now, block) && !before.blocks.includes(now));
}

function isMadeFrom(now: ContentBlock, before: ContentBlock): boolean {
  if (now.type === 'tool_response' && before.type === 'tool_response')
    return now.callId === before.callId;
  if (now.type === 'tool_call' && before.type === 'tool_call') return now.id === before.id;
  return now.type === 'text' && before.type === 'text' && isCutFrom(now.text, before.text);
}

/** Whether a text consists of lines of another one, in their order. */
function isCutFrom(text: string, whole: string): boolean {
  let from = 0;
  return text.split('\n').every((line) => {
    const at = whole.indexOf(line, from);
    from = at + line.length;
    return at !== -1;
  });
}

function toolOf(block: ContentBlock): string | undefined {
  if (block.type === 'tool_response') return block.toolName;
  return block.type === 'tool_call' ? block.name : undefined;
}

function textOf(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'tool_response') return payloadText(block.result);
  return block.type === 'tool_call' ? payloadText(block.parameters) : '';
}

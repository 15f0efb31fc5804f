// How long each result of a tool was in the history: from the first model call that was sent it, over the last one that
// had to do with it, to the edit that took it away. Keeps numbers and names, no content.

import type { ToolResponseBlock } from '../../../index.js';
import type { Attribution, ReclaimRule } from '../measure/attribution.js';
import type { CallSubject } from '../measure/call-subject.js';

/** The life of one result; turns are indices: model calls in their order, then the window after the last one. */
export interface ResultLife {
  readonly tool: string;
  readonly subject: CallSubject | null;
  readonly tokens: number;
  /** The first turn that it was sent in. */
  readonly birth: number;
  /** The last turn whose answer called for the same file or the same thing; the turn of its birth when none did. */
  readonly lastUse: number;
  /** The turn before which most of it gave way to an excerpt or a placeholder. */
  readonly shortened: number | null;
  /** The turn before which all that was left of it went. */
  readonly removed: number | null;
  /** What took it away, first. */
  readonly rule: ReclaimRule | null;
}

type Life = { -readonly [Key in keyof ResultLife]: ResultLife[Key] };

/** Follows the results of one session. */
export class ResultLives {
  readonly all: Life[] = [];
  readonly #byCall = new Map<string, Life>();
  readonly #bySubject = new Map<string, Life[]>();

  /** A result came in, and is sent from that turn on. */
  begin(
    { callId, toolName: tool }: ToolResponseBlock,
    subject: CallSubject | null,
    turn: number,
    tokens: number,
  ): void {
    const life: Life = {
      ...{ tool, subject, tokens, birth: turn, lastUse: turn },
      ...{ shortened: null, removed: null, rule: null },
    };
    this.all.push(life);
    this.#byCall.set(callId, life);
    const key = keyOf(tool, subject);
    const same = this.#bySubject.get(key);
    if (same === undefined) this.#bySubject.set(key, [life]);
    else same.push(life);
  }

  /** The answer of a turn made a call: the results in the history that are about the same were of use until then. */
  use(tool: string, subject: CallSubject, turn: number): void {
    const key = keyOf(tool, subject);
    const whole = this.#bySubject.get(key)?.filter(({ rule }) => rule === null) ?? [];
    for (const life of whole) life.lastUse = Math.max(life.lastUse, turn);
    this.#bySubject.set(key, whole);
  }

  /** An edit landed before that turn. */
  edit({ callId, rule, before, after }: Attribution, turn: number): void {
    const life = this.#byCall.get(callId ?? '');
    const isOfResult = before?.blocks.some(({ type }) => type === 'tool_response') === true;
    if (life === undefined || !isOfResult) return;
    const isRemoved = (after?.blocks ?? []).length === 0;
    if (isRemoved) life.removed ??= turn;
    else life.shortened ??= turn;
    life.rule ??= rule;
  }
}

/** What two calls have in common that are about the same: the file, or tool and parameter. */
function keyOf(tool: string, subject: CallSubject | null): string {
  const path = subject?.path ?? null;
  return path === null ? `${tool} ${subject?.parameter ?? ''}` : `file ${path}`;
}

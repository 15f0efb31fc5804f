// The lifetime of each tool result in the history: from the first model call that included it, past the last call with the same
// subject, to the edit that removed it or the end of the agent's context. Keeps no content.

import type { ToolResponseBlock } from '../../index.js';
import type { Attribution, ReclaimRule } from '../measure/attribution.js';
import type { Subject } from '../measure/call-subject.js';

/** The lifetime of one result. Turns are indices of model calls; the last turn is the preflight after the last call. */
export interface ResultLife {
  readonly tool: string;
  readonly subject: Subject | null;
  readonly tokens: number;
  /** The first turn that sent the result. */
  readonly birth: number;
  /** The last turn whose answer made a call with the same subject; `birth` if none did. */
  readonly lastUse: number;
  /** The turn before which an edit shortened the result or replaced it by a placeholder; `null` if none did. */
  readonly shortened: number | null;
  /** The turn before which the result was removed completely or the agent began a new context; `null` if it stayed. */
  readonly removed: number | null;
  /** The rule of the first edit; `null` if there was none. */
  readonly rule: ReclaimRule | null;
}

type Life = { -readonly [Key in keyof ResultLife]: ResultLife[Key] };

/** Tracks the lifetimes of the results of one session. */
export class ResultLives {
  readonly all: Life[] = [];
  readonly #byCall = new Map<string, Life>();
  readonly #bySubject = new Map<string, Life[]>();

  /** Starts the lifetime of a result that is sent from `turn` on. */
  begin(
    { callId, toolName: tool }: ToolResponseBlock,
    subject: Subject | null,
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

  /** Notes a tool call in the answer of a turn. The call counts as a use of all unedited results with the same subject. */
  use(tool: string, subject: Subject, turn: number): void {
    const key = keyOf(tool, subject);
    const whole = this.#bySubject.get(key)?.filter(({ rule }) => rule === null) ?? [];
    for (const life of whole) life.lastUse = Math.max(life.lastUse, turn);
    this.#bySubject.set(key, whole);
  }

  /** Notes an edit that landed before a turn. */
  edit({ callId, rule, before, after }: Attribution, turn: number): void {
    const life = this.#byCall.get(callId ?? '');
    const isOfResult = before?.blocks.some(({ type }) => type === 'tool_response') === true;
    if (life === undefined || !isOfResult) return;
    const isRemoved = (after?.blocks ?? []).length === 0;
    if (isRemoved) life.removed ??= turn;
    else life.shortened ??= turn;
    life.rule ??= rule;
  }

  /** Ends all remaining lifetimes: the context that begins before `turn` contains none of these results. */
  endContext(turn: number): void {
    for (const life of this.#byCall.values()) life.removed ??= turn;
    this.#byCall.clear();
    this.#bySubject.clear();
  }
}

/** Returns the key of a subject: the file, or tool and parameter. */
function keyOf(tool: string, subject: Subject | null): string {
  const path = subject?.path ?? null;
  return path === null ? `${tool} ${subject?.excerpt ?? ''}` : `file ${path}`;
}

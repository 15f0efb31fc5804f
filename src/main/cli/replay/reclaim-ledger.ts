// Keeps what each window removed, and works out at the end what it came to. Counts nothing before
// that, so that a replay measures ctxfold and not its own bookkeeping.

import { DEFAULT_TOOL_CATALOG } from '../../../index.js';
import type { EntryChange, IContent, ToolCatalog } from '../../../index.js';
import type { RuleEdit } from '../../../density.js';
import { attributePass, RECLAIM_RULES } from '../measure/attribution.js';
import type { Attribution } from '../measure/attribution.js';
import { namePaths, subjectOfCall } from '../measure/call-subject.js';
import type { CallSubject } from '../measure/call-subject.js';
import { groupBy } from '../measure/group-by.js';
import type { ReclaimedItem, RuleTotal } from './replay-report.js';

type CountEach = (contents: readonly IContent[]) => Promise<readonly number[]>;

interface Note {
  readonly attribution: Attribution;
  readonly window: number;
}

/** Something that was noted, and is not attributed before all was played. */
interface Edit {
  readonly attribute: () => readonly Attribution[];
  /** The window's index: model calls in their order, then the last one. */
  readonly window: number;
}

interface CountedNote extends Note {
  readonly tokens: number;
}

/** What was reclaimed, worked out. */
export interface Reclaimed {
  readonly totals: readonly RuleTotal[];
  /** By window. */
  readonly edits: ReadonlyMap<number, readonly RuleTotal[]>;
  /** By window, largest first. */
  readonly largest: readonly (Omit<ReclaimedItem, 'modelCall'> & { readonly window: number })[];
}

/** Collects attributions over a replay. */
export class ReclaimLedger {
  readonly #catalog: ToolCatalog;
  readonly #subjects = new Map<string, CallSubject>();
  readonly #edits: Edit[] = [];

  /** @param catalog the agent's tools */
  constructor(catalog: ToolCatalog = DEFAULT_TOOL_CATALOG) {
    this.#catalog = catalog;
  }

  /** Remembers what the calls of an entry are about. */
  learn({ blocks }: IContent): void {
    for (const block of blocks) {
      if (block.type !== 'tool_call') continue;
      this.#subjects.set(block.id, subjectOfCall(block, this.#catalog));
    }
  }

  note(attributions: readonly Attribution[], window: number): void {
    this.#edits.push({ attribute: () => attributions, window });
  }

  /** Notes what a density pass changed, and which rule took what. */
  notePass(changes: readonly EntryChange[], edits: readonly RuleEdit[], window: number): void {
    this.#edits.push({ attribute: () => attributePass(changes, edits), window });
  }

  /** Counts everything that was noted, at once, and sums it up; `largest` holds at most `limit` items. */
  async settle(countEach: CountEach, limit: number): Promise<Reclaimed> {
    const notes = await this.#counted(countEach);
    const byWindow = groupBy(notes, ({ window }) => window);
    return {
      totals: totalsOf(notes),
      edits: new Map(Array.from(byWindow, ([window, those]) => [window, totalsOf(those)])),
      largest: this.#items(notes)
        .filter(({ tokens }) => tokens > 0)
        .sort((a, b) => b.tokens - a.tokens)
        .slice(0, limit),
    };
  }

  async #counted(countEach: CountEach): Promise<readonly CountedNote[]> {
    const notes = this.#edits.flatMap(({ attribute, window }): Note[] =>
      attribute().map((attribution) => ({ attribution, window })),
    );
    const entries = notes.flatMap(({ attribution: { before, after } }) =>
      [before, after].filter((entry) => entry !== null),
    );
    const counts = (await countEach(entries)).values();
    const next = (entry: IContent | null): number =>
      entry === null ? 0 : (counts.next().value ?? 0);
    return notes.map((note) => {
      const { before, after } = note.attribution;
      return { ...note, tokens: next(before) - next(after) };
    });
  }

  /**
   * One item per attribution, but one for a call and its response that one window removed. Summaries
   * that came and went are none.
   */
  #items(notes: readonly CountedNote[]): Reclaimed['largest'][number][] {
    const groups = groupBy<CountedNote, unknown>(notes.filter(isItem), (note) => {
      const { rule, callId } = note.attribution;
      return callId === null ? note : `${note.window} ${rule} ${callId}`;
    });
    return Array.from(groups.values(), ([first, ...more]) => this.#item(first, more));
  }

  #item(first: CountedNote, more: readonly CountedNote[]): Reclaimed['largest'][number] {
    const { rule, toolName, callId, includedPaths, before, after } = first.attribution;
    const subject = this.#subjects.get(callId ?? '');
    return {
      rule,
      speaker: (before ?? after)?.speaker ?? 'human',
      tool: toolName,
      path: subject?.path ?? namePaths(includedPaths),
      parameter: subject?.parameter ?? null,
      tokens: more.reduce((sum, { tokens }) => sum + tokens, first.tokens),
      window: first.window,
    };
  }
}

function isItem({ attribution: { items, callId } }: CountedNote): boolean {
  return items > 0 || callId !== null;
}

function totalsOf(notes: readonly CountedNote[]): readonly RuleTotal[] {
  return RECLAIM_RULES.flatMap((rule) => {
    const those = notes.filter(({ attribution }) => attribution.rule === rule);
    if (those.length === 0) return [];
    const items = those.reduce((sum, { attribution }) => sum + attribution.items, 0);
    return [{ rule, items, tokens: those.reduce((sum, { tokens }) => sum + tokens, 0) }];
  });
}

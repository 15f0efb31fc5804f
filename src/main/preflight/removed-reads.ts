// Finds which tool results and file contents an edit removed. Looks only at changed entries and at the calls that their responses
// answer.

import { isCompleteResponse, isToolCallBlock } from '../../shared/content.js';
import type {
  ContentBlock,
  IContent,
  ToolCallBlock,
  ToolResponseBlock,
} from '../../shared/content.js';
import { callUse } from '../../shared/density/index/call-use.js';
import { findInclusions } from '../../shared/density/index/file-inclusions.js';
import { CALL_ACCESS } from '../../shared/density/index/history-columns.js';
import { pathIn } from '../../shared/density/index/text-table.js';
import { answeredCalls } from '../../shared/summarize/history-outline.js';
import { placeholderKind } from '../../shared/placeholder.js';
import { usesOf } from '../../shared/tool-catalog.js';
import type { ToolUse } from '../../shared/tool-use.js';
import type { EntryChange } from '../history-change.js';
import type { StepReport, RemovedEvent } from './session-events.js';
import type { DensityOptions } from '../settings/session-config.js';

/** What one edit removed. */
export type RemovedContent = Omit<RemovedEvent, 'step'>;

/** An entry of the history before an edit. */
interface FormerEntry {
  readonly entry: IContent;
  readonly isLost: boolean;
  /** Finds the call of a replaced result in the history, for calls that are not among the changed entries. */
  readonly findCall?: (callId: string) => ToolCallBlock | undefined;
}

/** Tracks the edits of one session, because removing a stand-in (a shorter replacement) later removes no result a second time. */
export class RemovedReads {
  readonly #options: DensityOptions;
  readonly #standIns = new WeakSet<ToolResponseBlock>();

  constructor(options: DensityOptions) {
    this.#options = options;
  }

  /**
   * Returns what a step removed, or `null` if nothing. Must be called once per step, in order.
   *
   * @param entries the history after the step
   */
  ofStep(report: StepReport, entries: readonly IContent[]): RemovedContent | null {
    if (report.step === 'none' || !report.event) return null;
    if (report.step !== 'compressed') return this.#ofChanges(report.event.changes, entries);
    return report.event.outcome === 'applied' ? this.#ofRewrite(report.former, entries) : null;
  }

  /** Takes time linear in the changes, or in the history if a response is far from its call. */
  #ofChanges(changes: readonly EntryChange[], entries: readonly IContent[]): RemovedContent | null {
    let removed = 0;
    const callOf = answeredCalls(entries);
    const former = changes.map(({ before, index, after }): FormerEntry => {
      const place = index - removed;
      if (after === null) removed += 1;
      const findCall = (callId: string): ToolCallBlock | undefined => {
        const isIt = (block: ContentBlock): boolean =>
          block.type === 'tool_response' && block.callId === callId;
        if (after === null) return undefined;
        // A note of dropped entries moves those behind it.
        return callOf(entries.indexOf(after, place), after.blocks.findIndex(isIt));
      };
      return { entry: before, isLost: true, findCall };
    });
    const present = changes.flatMap(({ after }) => after ?? []);
    return this.#compare(former, present);
  }

  /** Takes time linear in both lists. Entries that stay are the same objects in both. */
  #ofRewrite(before: readonly IContent[], entries: readonly IContent[]): RemovedContent | null {
    const kept = new Set(entries);
    const known = new Set(before);
    return this.#compare(
      before.map((entry) => ({ entry, isLost: !kept.has(entry) })),
      entries.filter((entry) => !known.has(entry)),
    );
  }

  /** @param present the new entries, which share the blocks that they keep */
  #compare(former: readonly FormerEntry[], present: readonly IContent[]): RemovedContent | null {
    const paths = new Set<string>();
    const callIds = new Set<string>();
    const calls = new Map<string, ToolCallBlock>();
    const presentBlocks = new Set(present.flatMap(({ blocks }) => blocks));
    const inclusionsLeft = new Map<string, number>();
    for (const { text } of present.flatMap((entry) => this.#inclusionsOf(entry))) {
      inclusionsLeft.set(text, (inclusionsLeft.get(text) ?? 0) + 1);
    }
    const formerBlocks = new Set<ContentBlock>();
    for (const { entry, isLost, findCall } of former) {
      for (const block of entry.blocks) {
        formerBlocks.add(block);
        if (isToolCallBlock(block)) calls.set(block.id, block);
        if (!isLost || !isCompleteResponse(block)) continue;
        if (presentBlocks.has(block) || this.#standIns.has(block)) continue;
        if (placeholderKind(block) !== 'none') continue;
        callIds.add(block.callId);
        const call = findCall?.(block.callId) ?? calls.get(block.callId);
        for (const path of this.#pathsRead(call)) paths.add(path);
      }
      if (!isLost) continue;
      for (const { path, text } of this.#inclusionsOf(entry)) {
        const left = inclusionsLeft.get(text) ?? 0;
        if (left === 0) paths.add(path);
        else inclusionsLeft.set(text, left - 1);
      }
    }
    for (const block of presentBlocks) {
      if (isCompleteResponse(block) && !formerBlocks.has(block)) this.#standIns.add(block);
    }
    return paths.size + callIds.size === 0 ? null : { paths: [...paths], callIds: [...callIds] };
  }

  #pathsRead(call: ToolCallBlock | undefined): readonly string[] {
    const uses = (tool: string): readonly ToolUse[] => usesOf(this.#options.toolCatalog, tool);
    const { access, paths = [] } = call === undefined ? {} : callUse(uses, call, true);
    return access === CALL_ACCESS.read ? paths.map((path) => this.#absolute(path)) : [];
  }

  #inclusionsOf({ speaker, blocks }: IContent): readonly Inclusion[] {
    if (speaker !== 'human') return [];
    return findInclusions(blocks, this.#options).map((found) => {
      const path = this.#absolute(found.path);
      const text =
        'start' in found
          ? textOf(blocks[found.block]).slice(found.start, found.end)
          : `${textOf(blocks[found.block])}\n${textOf(blocks[found.block + 1])}`;
      return { path, text };
    });
  }

  #absolute(path: string): string {
    return pathIn(this.#options.workspaceRoot, path);
  }
}

/** A file inclusion. Its text includes the path. */
interface Inclusion {
  readonly path: string;
  readonly text: string;
}

function textOf(block: ContentBlock | undefined): string {
  return block?.type === 'text' ? block.text : '';
}

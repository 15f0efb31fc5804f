// Finds which tool results and file contents an edit removed. Looks only at changed entries and at the calls that their responses
// answer.

import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import type {
  ContentBlock,
  IContent,
  ToolCallBlock,
  ToolResponseBlock,
} from '../../shared/content.js';
import { signatureOf } from '../../shared/density/index/hash.js';
import { fileAccess } from '../../shared/density/index/call-use.js';
import { findInclusions } from '../../shared/density/index/file-inclusions.js';
import { pushTo } from '../../shared/lists-by-key.js';
import { answeredCalls } from '../../shared/summarize/history-outline.js';
import { placeholderKind } from '../../shared/placeholder.js';
import { usesOf } from '../../shared/tool-catalog.js';
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
        return after === null ? undefined : callOf(place, after.blocks.findIndex(isIt));
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

  /** @param present the new entries */
  #compare(former: readonly FormerEntry[], present: readonly IContent[]): RemovedContent | null {
    const paths = new Set<string>();
    const callIds = new Set<string>();
    const calls = new Map<string, ToolCallBlock>();
    const left = new PresentContent(present, (entry) => this.#inclusionsOf(entry));
    for (const { entry, isLost, findCall } of former) {
      for (const block of entry.blocks) {
        if (isToolCallBlock(block)) calls.set(block.id, block);
        if (!isLost || !isToolResponseBlock(block) || block.isComplete === false) continue;
        const copy = left.takeEqual(block);
        if (this.#isStandIn(block)) {
          if (copy !== undefined) this.#standIns.add(copy);
        } else if (copy === undefined) {
          callIds.add(block.callId);
          const call = calls.get(block.callId) ?? findCall?.(block.callId);
          for (const path of this.#pathsRead(call)) paths.add(path);
        }
      }
      if (!isLost) continue;
      for (const { path, text } of this.#inclusionsOf(entry)) {
        if (!left.takeInclusion(text)) paths.add(path);
      }
    }
    for (const response of left.responses()) this.#standIns.add(response);
    return paths.size + callIds.size === 0 ? null : { paths: [...paths], callIds: [...callIds] };
  }

  #isStandIn(response: ToolResponseBlock): boolean {
    return this.#standIns.has(response) || placeholderKind(response) !== 'none';
  }

  #pathsRead(call: ToolCallBlock | undefined): readonly string[] {
    const uses = call && usesOf(this.#options.toolCatalog, call.name);
    const file = uses && fileAccess(uses, call.parameters);
    return file?.access === 'read' ? file.paths.map((path) => this.#absolute(path)) : [];
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
    return resolve(this.#options.workspaceRoot, path);
  }
}

/** A file inclusion. Its text includes the path. */
interface Inclusion {
  readonly path: string;
  readonly text: string;
}

/** The contents of new entries, each of which can be matched once. */
class PresentContent {
  /** By `keyOf`. Lists, because several calls may share an id. */
  readonly #responses = new Map<string, ToolResponseBlock[]>();
  readonly #inclusions = new Map<string, number>();

  constructor(
    entries: readonly IContent[],
    inclusionsOf: (entry: IContent) => readonly Inclusion[],
  ) {
    for (const entry of entries) {
      for (const block of entry.blocks) {
        if (!isToolResponseBlock(block) || block.isComplete === false) continue;
        pushTo(this.#responses, keyOf(block), block);
      }
      for (const { text } of inclusionsOf(entry)) {
        this.#inclusions.set(text, (this.#inclusions.get(text) ?? 0) + 1);
      }
    }
  }

  /** Removes and returns an equal response to the same call. Compares by value, because strategies may copy what they keep. */
  takeEqual(response: ToolResponseBlock): ToolResponseBlock | undefined {
    const known = this.#responses.get(keyOf(response)) ?? [];
    const at = known.findLastIndex((block) => isDeepStrictEqual(block.result, response.result));
    return at === -1 ? undefined : known.splice(at, 1)[0];
  }

  /** Removes an inclusion with this text. Returns whether there was one. */
  takeInclusion(text: string): boolean {
    const count = this.#inclusions.get(text) ?? 0;
    if (count > 0) this.#inclusions.set(text, count - 1);
    return count > 0;
  }

  /** The responses that no `takeEqual` has removed. */
  *responses(): Generator<ToolResponseBlock> {
    for (const blocks of this.#responses.values()) yield* blocks;
  }
}

/** Returns a key that is the same for equal responses to the same call. */
function keyOf({ callId, result }: ToolResponseBlock): string {
  return JSON.stringify([callId, signatureOf('', result)]);
}

function textOf(block: ContentBlock | undefined): string {
  return block?.type === 'text' ? block.text : '';
}

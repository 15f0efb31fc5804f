// Knows the parts of messages that depend on a call in another message: those that must be removed along with the call, such as an
// approval, and images that an agent shows behind the call's result. Edits nothing.

import { pushTo } from '../../shared/lists-by-key.js';
import type { PlacedBlock } from '../format/message-format.js';

/** The dependent parts of one conversation. */
export class Dependents<Holder> {
  /** By id of a call, the holders of the parts that depend on it. */
  readonly #holders = new Map<string, Holder[]>();
  /** By id of a call, the number of calls that were not removed. */
  readonly #remainingCalls = new Map<string, number>();
  /** Ids of the calls of whose results nothing is left but a text. */
  readonly #replacedResults = new Set<string>();

  /** Must be called for each block that is read. */
  add(block: PlacedBlock, holder: Holder): void {
    if (block.type === 'tool_call') this.#count(block.id, 1);
    if (block.type !== 'opaque' || block.callId === undefined) return;
    pushTo(this.#holders, block.callId, holder);
  }

  /** Must be called when an edit leaves other blocks of some that were added. */
  change(former: readonly PlacedBlock[], now: readonly PlacedBlock[]): void {
    for (const block of former) if (block.type === 'tool_call') this.#count(block.id, -1);
    for (const block of now) {
      if (block.type === 'tool_call') this.#count(block.id, 1);
      if (block.type === 'tool_response' && block.mediaTokens === undefined)
        this.#replacedResults.add(block.callId);
    }
  }

  /** Returns the holders of the parts that depend on a block. */
  of(block: PlacedBlock): readonly Holder[] {
    const answered = block.type === 'tool_response' ? block.callId : undefined;
    const id = block.type === 'tool_call' ? block.id : answered;
    return (id === undefined ? undefined : this.#holders.get(id)) ?? [];
  }

  /** Whether a block depends on a removed call, which providers reject, or is an image of a replaced result. */
  isOrphan(block: PlacedBlock): boolean {
    if (block.type !== 'opaque' || block.callId === undefined) return false;
    if (block.isShown === true) return this.#replacedResults.has(block.callId);
    return this.#remainingCalls.get(block.callId) === 0;
  }

  #count(id: string, change: number): void {
    this.#remainingCalls.set(id, (this.#remainingCalls.get(id) ?? 0) + change);
  }
}

// Why what pruning leaves of a history stays. Looks at what is there and at the agent's tools; that
// nothing of it is stale has been decided.

import { PRUNED_POINTER } from '../../index.js';
import type {
  ContentBlock,
  IContent,
  ToolCallBlock,
  ToolCatalog,
  ToolResponseBlock,
  ToolUse,
} from '../../index.js';
import type { StayReason } from './analysis-report.js';
import { includedPathsOf } from './attribution.js';
import { categoryOf } from './composition.js';

/** What decides why calls stay. */
export interface RetentionRules {
  readonly catalog: ToolCatalog;
  /** Whether only the newest results of each tool were kept. */
  readonly keepsNewestOnly: boolean;
}

/** Why each block of a history stays that pruning has left. */
export class Retention {
  readonly #rules: RetentionRules;
  /** By response, the call that it answers. */
  readonly #calls = new Map<ContentBlock, ToolCallBlock>();
  /** By call, its response. */
  readonly #responses = new Map<ContentBlock, ToolResponseBlock>();

  constructor(history: readonly IContent[], rules: RetentionRules) {
    this.#rules = rules;
    const open = new Map<string, ToolCallBlock>();
    for (const block of history.flatMap(({ blocks }) => blocks)) {
      if (block.type === 'tool_call') open.set(block.id, block);
      if (block.type !== 'tool_response' || block.isComplete === false) continue;
      const call = open.get(block.callId);
      if (call === undefined) continue;
      open.delete(block.callId);
      this.#calls.set(block, call);
      this.#responses.set(call, block);
    }
  }

  /** Why a block stays. A call and its response stay for the same reason. */
  reasonOf(block: ContentBlock, entry: IContent): StayReason {
    if (block.type === 'tool_call') return this.#reasonOfCall(block, this.#responses.get(block));
    if (block.type === 'tool_response') return this.#reasonOfCall(this.#calls.get(block), block);
    const category = categoryOf(block, entry);
    if (category === 'tool-call' || category === 'tool-result') return 'other-call';
    if (category === 'user-text' && includedPathsOf([block]).length > 0) return 'newest-inclusion';
    return category;
  }

  #reasonOfCall(
    call: ToolCallBlock | undefined,
    response: ToolResponseBlock | undefined,
  ): StayReason {
    if (call === undefined || response === undefined) return 'open-call';
    const access = useOf(call, this.#rules.catalog)?.access;
    if (access === 'write') return 'write';
    if (response.result === PRUNED_POINTER) return 'pruned-result';
    if (access === 'read') return 'current-read';
    return this.#rules.keepsNewestOnly ? 'newest-result' : 'other-call';
  }
}

/** The first use whose condition holds, as pruning takes it. */
function useOf({ name, parameters }: ToolCallBlock, catalog: ToolCatalog): ToolUse | undefined {
  const uses = Object.hasOwn(catalog, name) ? (catalog[name] ?? []) : [];
  const values: Readonly<Record<string, unknown>> =
    typeof parameters === 'object' && parameters !== null ? { ...parameters } : {};
  return uses.find(({ when }) => {
    const value = when === undefined ? undefined : values[when.key];
    return when === undefined || (typeof value === 'string' && when.values.includes(value));
  });
}

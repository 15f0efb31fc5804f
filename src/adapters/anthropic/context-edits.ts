// What Anthropic's own context editing has to be told so that it comes nearest to the rules of a session, for who wants the
// server to do it. Edits nothing.

import type { Session } from '../../main/session.js';
import type { FileUse, ToolCatalog } from '../../shared/tool-catalog.js';

/** The `context_management` of a request with the beta `context-management-2025-06-27`. */
export interface ContextEdits {
  readonly edits: {
    type: 'clear_tool_uses_20250919';
    trigger: { type: 'input_tokens'; value: number };
    keep: { type: 'tool_uses'; value: number };
    clear_at_least?: { type: 'input_tokens'; value: number };
    exclude_tools?: string[];
    clear_tool_inputs: boolean;
  }[];
}

/**
 * Returns what has the server clear results of tools as nearly as it can by a session's working set, else by its recency: no edit
 * when it has neither. The server knows one age for all tools and no files: so results of tools that only read files, which a
 * session keeps longest, are left out; others are cleared past the longest age of theirs, once that pays for the cache.
 * Give `session.densityConfig`'s rules to one of the two, not to both: set `compression.density.workingSet` to `off` then.
 *
 * @param overheadTokens system text and tool schemas, which the server counts as well
 */
export function contextEdits(
  { densityConfig, contextLimit }: Pick<Session, 'densityConfig' | 'contextLimit'>,
  overheadTokens: number = 0,
): ContextEdits {
  const { workingSet, recencyPruning, recencyRetention, toolCatalog = {} } = densityConfig;
  const type = 'clear_tool_uses_20250919';
  if (workingSet === undefined) {
    if (!recencyPruning) return { edits: [] };
    const trigger = { type: 'input_tokens', value: Math.max(1, overheadTokens) } as const;
    const keep = { type: 'tool_uses', value: Math.max(1, recencyRetention) } as const;
    return { edits: [{ type, trigger, keep, clear_tool_inputs: false }] };
  }
  const { searchCalls, outputCalls, otherCalls, paybackCalls, freeTokens } = workingSet;
  // Half a window stands behind what is cleared, as a rule, and is written to the cache again.
  const worthwhile = Math.ceil(contextLimit / 2 / Math.max(1, paybackCalls));
  const readers = readersIn(toolCatalog);
  return {
    edits: [
      {
        type,
        trigger: { type: 'input_tokens', value: Math.ceil(overheadTokens + freeTokens) },
        keep: {
          type: 'tool_uses',
          value: Math.ceil(Math.max(searchCalls, outputCalls, otherCalls)),
        },
        ...(worthwhile > 1 && { clear_at_least: { type: 'input_tokens', value: worthwhile } }),
        ...(readers.length > 0 && { exclude_tools: readers }),
        clear_tool_inputs: false,
      },
    ],
  };
}

/** The tools that do nothing but read files. */
function readersIn(catalog: ToolCatalog): string[] {
  const isRead = (use: { readonly access: string }): use is FileUse => use.access === 'read';
  return Object.keys(catalog).filter((name) => catalog[name]?.every(isRead) === true);
}

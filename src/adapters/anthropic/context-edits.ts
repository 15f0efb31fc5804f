// Options for Anthropic's context editing that approximate the rules of a session, for hosts that let the server edit histories.

import type { Session } from '../../main/session.js';
import { ANY_TOOL } from '../../shared/tool-catalog.js';
import type { ToolCatalog, ToolUse } from '../../shared/tool-use.js';

/** The field `context_management` of a request with the beta `context-management-2025-06-27`. */
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
 * Returns options with which the server clears tool results approximately as a session's working set would, or else its recency
 * pruning; no edits if both are off. The server applies one age to all tools and knows no files. So results of tools that only read
 * files, ask the user or instruct are excluded, because a session keeps those longest. Other results are cleared after the highest of
 * the ages that the session has for them, once that pays for the cache that is written again. Use either these options or the
 * session's own rules, not both: set `compression.density.workingSet` to `off` with these options.
 *
 * @param overheadTokens tokens of the system text and tool schemas, which the server counts, too
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
  // Assumes that half a window follows what is cleared, as is typical, and must be written to the cache again.
  const worthwhile = Math.ceil(contextLimit / 2 / Math.max(1, paybackCalls));
  const lasting = lastingIn(toolCatalog);
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
        ...(lasting.length > 0 && { exclude_tools: lasting }),
        clear_tool_inputs: false,
      },
    ],
  };
}

/** Returns the names of the tools whose results a session keeps longest: those that only read files, ask the user or instruct. */
function lastingIn(catalog: ToolCatalog): string[] {
  return Object.keys(catalog).filter(
    (name) => name !== ANY_TOOL && catalog[name]?.every(isLasting) === true,
  );
}

function isLasting({ access }: ToolUse): boolean {
  return access === 'read' || access === 'ask' || access === 'instruct';
}

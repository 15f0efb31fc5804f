// Options for Anthropic's context editing that approximate the rules of a session, for hosts that let the server edit.

import type { Session } from '../../main/session.js';
import { ANY_TOOL } from '../../shared/tool-catalog.js';
import type { ToolCatalog, ToolUse } from '../../shared/tool-use.js';

/** `context_management` of a request with the beta `context-management-2025-06-27`. */
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
 * Returns options with which the server clears tool results approximately by a session's working set, else by its recency pruning; no
 * edit if the session has neither. The server has one age for all tools and knows no files. So results of tools that only read
 * files, ask the user or instruct, which a session keeps longest, are excluded; others are cleared after the highest age among
 * theirs, once that pays for the cache. Use either these options or the session's own rules, not both: set
 * `compression.density.workingSet` to `off` then.
 *
 * @param overheadTokens tokens of system text and tool schemas, which the server counts, too
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
  // Typically, half a window follows what is cleared, and must be written to the cache again.
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

/** Names of the tools whose results a session keeps longest: those that only read files, ask the user or instruct. */
function lastingIn(catalog: ToolCatalog): string[] {
  return Object.keys(catalog).filter(
    (name) => name !== ANY_TOOL && catalog[name]?.every(isLasting) === true,
  );
}

function isLasting({ access }: ToolUse): boolean {
  return access === 'read' || access === 'ask' || access === 'instruct';
}

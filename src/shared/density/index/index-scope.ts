// Which parts of a history an index covers: everything a session needs, or what one pass reads.

import { syntaxesOf } from '../../density.js';
import type { DensityConfig, InclusionSyntax } from '../../density.js';
import { withoutUndefined } from '../../json.js';
import type { ToolCatalog } from '../../tool-use.js';

/** What is fixed for a session: the agent's tools, workspace and inclusion syntaxes. */
export type IndexedAgent = Pick<
  DensityConfig,
  'workspaceRoot' | 'toolCatalog' | 'inclusionSyntaxes'
>;

/** Picks these fields out of a configuration. */
export function indexedAgentOf(config: IndexedAgent): IndexedAgent {
  const { workspaceRoot, toolCatalog, inclusionSyntaxes } = config;
  return { workspaceRoot, ...withoutUndefined({ toolCatalog, inclusionSyntaxes }) };
}

/**
 * A part of the index that only some rules read, named like the field of `IndexScope`. Calls and the files they touch are always
 * indexed.
 */
export type IndexPart = 'inclusions' | 'recency' | 'workingSet' | 'unsent';

export interface IndexScope {
  readonly workspaceRoot: string;
  readonly toolCatalog?: ToolCatalog | undefined;
  /** Empty: inclusions are not searched for. */
  readonly inclusionSyntaxes: readonly InclusionSyntax[];
  /**
   * Whether to index the tools of responses and whether their results were pruned; the latter also
   * for `workingSet`.
   */
  readonly recency: boolean;
  /** Whether to index the purpose of calls and the size of results. */
  readonly workingSet: boolean;
  /** Whether to keep unsent results and compare texts with each other, as shrinking needs. */
  readonly unsent: boolean;
  /** Whether the history may be rewritten later, which takes the ids of all calls. */
  readonly isRewritable: boolean;
}

/** The scope that serves passes with any settings on a growing history. */
export function scopeOfSession(agent: IndexedAgent): IndexScope {
  return {
    workspaceRoot: agent.workspaceRoot,
    toolCatalog: agent.toolCatalog,
    inclusionSyntaxes: syntaxesOf(agent),
    recency: true,
    workingSet: true,
    unsent: true,
    isRewritable: true,
  };
}

// What an index of a history takes notice of: all that is worth knowing, or what one pass asks for.

import type { DensityConfig, InclusionSyntax } from '../../density.js';
import type { ToolCatalog } from '../../tool-catalog.js';
import { syntaxesOf } from './file-inclusions.js';

/** What does not change during a session: the agent's tools, files and ways to include them. */
export type IndexedAgent = Pick<
  DensityConfig,
  'workspaceRoot' | 'toolCatalog' | 'inclusionSyntaxes'
>;

/** The agent's part of a configuration, and nothing else of it. */
export function indexedAgentOf(config: IndexedAgent): IndexedAgent {
  const { workspaceRoot, toolCatalog, inclusionSyntaxes } = config;
  return {
    workspaceRoot,
    ...(toolCatalog !== undefined && { toolCatalog }),
    ...(inclusionSyntaxes !== undefined && { inclusionSyntaxes }),
  };
}

/** What a rule may look at: the fields of a scope that say so. */
export type IndexPart = 'calls' | 'inclusions' | 'recency' | 'workingSet' | 'unsent';

/** What an index notes. */
export interface IndexScope {
  readonly workspaceRoot: string;
  readonly toolCatalog?: ToolCatalog | undefined;
  /** None: inclusions are not looked for. */
  readonly inclusionSyntaxes: readonly InclusionSyntax[];
  /** Whether calls and the files that they touch are noted. */
  readonly calls: boolean;
  /** Whether the tools of responses are noted, and whether their results are gone already; the latter also for a working set. */
  readonly recency: boolean;
  /** Whether it is noted what calls are for and how large results are, as a working set is chosen by. */
  readonly workingSet: boolean;
  /** Whether results are kept until the model was sent them, and texts told from each other: what shrinking needs. */
  readonly unsent: boolean;
  /** Whether the history may be rewritten later; that takes the ids of all calls. */
  readonly isRewritable: boolean;
}

/** What passes of any kind need, on a history that goes on. */
export function scopeOfSession(agent: IndexedAgent): IndexScope {
  return {
    workspaceRoot: agent.workspaceRoot,
    toolCatalog: agent.toolCatalog,
    inclusionSyntaxes: syntaxesOf(agent),
    calls: true,
    recency: true,
    workingSet: true,
    unsent: true,
    isRewritable: true,
  };
}

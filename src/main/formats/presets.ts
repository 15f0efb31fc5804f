// Pruning settings per agent: the tool catalog of its format, and defaults that all agents share.

import { SAFE_INCLUSION_SYNTAXES } from '../../shared/density.js';
import { kindOf } from '../../shared/misuse.js';
import type { InclusionSyntax } from '../../shared/density.js';
import { DEFAULT_WORKING_SET } from '../../shared/density/rules/working-set-rules.js';
import type { WorkingSetRules } from '../../shared/density/rules/working-set-rules.js';
import type { ToolCatalog } from '../../shared/tool-use.js';
import { FORMATS } from './formats.js';
import { KNOWN_TOOL_CATALOG } from './known-tools.js';
import { TRANSCRIPT_FORMATS } from './transcript.js';
import type { TranscriptFormat } from './transcript.js';

/** How one agent's histories are pruned. */
export interface AgentPreset {
  readonly toolCatalog: ToolCatalog;
  readonly workingSet: WorkingSetRules;
  readonly inclusionSyntaxes: readonly InclusionSyntax[];
}

/**
 * Returns the preset of the agent whose sessions have this format. Without a format, returns the preset that sessions use by default,
 * with the tools of all known agents.
 *
 * @throws RangeError for an unknown format.
 */
export function agentPreset(format?: TranscriptFormat): AgentPreset {
  if (format !== undefined && !TRANSCRIPT_FORMATS.includes(format)) {
    throw new RangeError(
      `Expected one of ${TRANSCRIPT_FORMATS.join(', ')}, got ${kindOf(format)}.`,
    );
  }
  return {
    toolCatalog: format === undefined ? KNOWN_TOOL_CATALOG : FORMATS[format].toolCatalog,
    workingSet: DEFAULT_WORKING_SET,
    inclusionSyntaxes: SAFE_INCLUSION_SYNTAXES,
  };
}

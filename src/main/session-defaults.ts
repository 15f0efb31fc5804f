// What a session of a compactor starts with where nobody says otherwise: one place for sessions, adapters and the command
// line. Checks nothing.

import { SAFE_INCLUSION_SYNTAXES } from '../shared/density.js';
import { DEFAULT_SHRINK } from '../shared/density/rules/shrink.js';
import { DEFAULT_WORKING_SET } from '../shared/density/rules/working-set-rules.js';
import { KNOWN_TOOL_CATALOG } from './formats/known-tools.js';
import type { EditOptions } from './preflight/edit-options.js';
import type { CompactorOptions } from './compactor-options.js';
import type { DensityOptions } from './preflight/session-parts.js';

/** The defaults of a session. */
export interface SessionDefaults {
  readonly edits: NonNullable<EditOptions['edits']>;
  /** Whether a compaction leaves a note of what was asked and done in what it takes away. */
  readonly carriesWork: boolean;
  /** Share of the context window at which summaries are asked for in the background; 1 for never. */
  readonly ahead: number;
  readonly density: Pick<
    DensityOptions,
    'toolCatalog' | 'workingSet' | 'shrink' | 'inclusionSyntaxes'
  >;
}

const FOR_AGENTS: SessionDefaults = {
  edits: 'auto',
  carriesWork: true,
  ahead: 0.7,
  density: {
    toolCatalog: KNOWN_TOOL_CATALOG,
    workingSet: DEFAULT_WORKING_SET,
    shrink: DEFAULT_SHRINK,
    inclusionSyntaxes: SAFE_INCLUSION_SYNTAXES,
  },
};

/** Without a catalog and rules of a working set, a pass goes by the documented ones. */
const DOCUMENTED: SessionDefaults = {
  edits: 'every-turn',
  carriesWork: false,
  ahead: 1,
  density: { inclusionSyntaxes: SAFE_INCLUSION_SYNTAXES },
};

/** Returns the defaults that a compactor's sessions have: those for agents, or the documented system and nothing beyond it. */
export function sessionDefaults(preset: CompactorOptions['preset']): SessionDefaults {
  return preset === 'specification' ? DOCUMENTED : FOR_AGENTS;
}

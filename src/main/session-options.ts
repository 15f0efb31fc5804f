// The options of a session, their validation, and the defaults they have by preset.

import type { IContent } from '../shared/content.js';
import { assertDensityOptions } from '../shared/density-options.js';
import { assertWorkingSetRules } from '../shared/density/rules/working-set-rules.js';
import { SAFE_INCLUSION_SYNTAXES } from '../shared/density.js';
import { DEFAULT_SHRINK } from '../shared/density/rules/shrink.js';
import { withoutUndefined } from '../shared/json.js';
import {
  assertBoolean,
  assertFunction,
  assertString,
  assertTokens,
  copyOfArray,
  readOptions,
} from '../shared/misuse.js';
import type { Checks, OptionsElsewhere } from '../shared/misuse.js';
import { agentPreset } from './formats/presets.js';
import { EDIT_CHECKS } from './preflight/edit-options.js';
import type { EditOptions } from './preflight/edit-options.js';
import { removalLogPathIn } from './removal-log/removal-log-path.js';
import type { DensityOptions } from './settings/session-config.js';
import type { SessionState } from './state/session-state.js';
import type { CompactByProvider } from './strategies/provider-compaction.js';
import type { Todo } from './summarizer/todo.js';

/** The options of a session. */
export interface SessionOptions extends EditOptions {
  /**
   * Entries to continue from; the session takes ownership of them, and copies the array. If the model's answers are among
   * them, they count as already sent, by whichever process: see `edits`.
   */
  readonly history?: readonly IContent[] | undefined;
  /**
   * What `snapshot` returned, in any process: the session continues from there with the same `history`, which may have grown.
   * Nothing is counted or edited a second time. A state that is broken, newer or of another history is reported by
   * `stateRefused` or `stateDiverged`.
   */
  readonly state?: SessionState | null | undefined;
  /** Identifies the session's records; not empty. Reuse the id to continue another session's. @default a random UUID */
  readonly sessionId?: string | undefined;
  /** What is known about the agent: its tools, its file inclusion syntax, its workspace. */
  readonly density?: Partial<DensityOptions> | undefined;
  /**
   * Directory for removal logs: everything that edits remove is written to the session's file there before they land. The file
   * name is derived from the session id, whatever characters that holds; see `removalLogPathIn`. With neither option, what is
   * pruned is lost. Only one session can have a file open: if another container might hold it, creating the session waits up to
   * six seconds to see that it is gone. While another process has it open, the session edits nothing of its own.
   */
  readonly removalLogDirectory?: string | undefined;
  /** Path of the file itself; never derived from an id, so it can be trusted. */
  readonly removalLogPath?: string | undefined;
  /**
   * Whether the host itself keeps what edits remove and offers it to the model by a tool `recall`: informative placeholders
   * then say how, as they do with a removal log. @default false
   */
  readonly canRecall?: boolean | undefined;
  /** Returns the agent's todos; called whenever a model summarizes. If it fails, the compression fails with `TODOS_FAILED`. */
  readonly activeTodos?: (() => readonly Todo[]) | undefined;
  /** Asks the provider to compact, for the strategy `provider`; supplied by adapters. @default none */
  readonly compactByProvider?: CompactByProvider | undefined;
  /** A monotonic clock in milliseconds, for replaying recordings; cache expiry is measured with it. @default the process's */
  readonly now?: (() => number) | undefined;
  /** System text and tool schemas of every request, in the model's own tokens. @default the compactor's */
  readonly overheadTokens?: number | undefined;
}

/** The options that adapters take for their sessions. */
export type SessionOptionsOfAdapters = Pick<
  SessionOptions,
  | 'edits'
  | 'minReclaimTokens'
  | 'cacheTtlMs'
  | 'reasoning'
  | 'density'
  | 'activeTodos'
  | 'overheadTokens'
  | 'removalLogDirectory'
  | 'canRecall'
>;

/** Each option with its check; `null` for an option that is validated elsewhere. */
export const CHECKS_OF_ADAPTERS: Checks<SessionOptionsOfAdapters> = {
  density: null,
  removalLogDirectory: assertDirectory,
  canRecall: assertBoolean,
  activeTodos: assertFunction,
  overheadTokens: assertTokens,
  ...EDIT_CHECKS,
};

const CHECKS: Checks<SessionOptions> = {
  ...CHECKS_OF_ADAPTERS,
  history: null,
  state: null,
  sessionId: null,
  removalLogPath: assertString,
  now: assertFunction,
  compactByProvider: assertFunction,
};

export const SESSION_OPTIONS: readonly string[] = Object.keys(CHECKS);

const DENSITY_CHECKS: Checks<DensityOptions> = {
  workspaceRoot: null,
  toolCatalog: null,
  inclusionSyntaxes: null,
  partialWritesSupersede: null,
  workingSet: null,
  shrink: null,
};

export const DENSITY_OPTIONS: readonly string[] = Object.keys(DENSITY_CHECKS);

function assertDirectory(name: string, value: unknown): void {
  assertString(name, value);
  if (value === '') throw new TypeError(`Expected ${name} to be the path of a directory.`);
}

/**
 * Reads a session's options and validates those that need nothing but themselves to be judged.
 *
 * @param elsewhere see `assertKnownOptions`
 * @throws TypeError for options of a wrong type; RangeError for unknown options and values.
 */
export function readSessionOptions(
  given: SessionOptions,
  elsewhere: OptionsElsewhere,
): SessionOptions {
  const options = readOptions('session options', given, CHECKS, elsewhere);
  const history =
    options.history === undefined
      ? undefined
      : (copyOfArray('history', options.history) as IContent[]);
  if (options.density === undefined) return { ...options, history };
  const density = readOptions('density', options.density, DENSITY_CHECKS, elsewhere);
  assertDensityOptions('density', density);
  if (density.workingSet !== undefined) assertWorkingSetRules(density.workingSet);
  return { ...options, history, density: withoutUndefined(density) };
}

/** Returns the path of a session's removal log, if it has one. @throws TypeError if both a file and a directory are given. */
export function removalLogPathOf(
  { removalLogPath, removalLogDirectory }: SessionOptions,
  sessionId: string,
): string | undefined {
  if (removalLogDirectory === undefined) return removalLogPath;
  if (removalLogPath !== undefined) {
    throw new TypeError('Expected removalLogDirectory or removalLogPath, got both.');
  }
  return removalLogPathIn(removalLogDirectory, sessionId);
}

/** The values that a session uses for options that are not given. */
export interface SessionDefaults {
  readonly edits: NonNullable<EditOptions['edits']>;
  /** See `SessionConfig`. */
  readonly isForAgents: boolean;
  /** Share of the context window at which summaries are requested in the background; 1 for never. */
  readonly ahead: number;
  readonly density: Pick<
    DensityOptions,
    'toolCatalog' | 'workingSet' | 'shrink' | 'inclusionSyntaxes'
  >;
}

const FOR_AGENTS: SessionDefaults = {
  edits: 'auto',
  isForAgents: true,
  ahead: 0.7,
  density: { ...agentPreset(), shrink: DEFAULT_SHRINK },
};

/** Without a catalog and working-set rules, a pass uses the documented ones. */
const DOCUMENTED: SessionDefaults = {
  edits: 'every-turn',
  isForAgents: false,
  ahead: 1,
  density: { inclusionSyntaxes: SAFE_INCLUSION_SYNTAXES },
};

/** Returns the defaults of a preset: those for agents, or the documented system and nothing beyond it. */
export function sessionDefaults(preset: 'specification' | undefined): SessionDefaults {
  return preset === 'specification' ? DOCUMENTED : FOR_AGENTS;
}

// What a session can be told when it is made, and the check of that.

import { assertDensityOptions } from '../shared/density-problems.js';
import type { IContent } from '../shared/content.js';
import {
  assertArray,
  assertBoolean,
  assertFunction,
  assertKnownOptions,
  assertString,
  readOptions,
} from '../shared/misuse.js';
import type { EditOptions } from './preflight/edit-options.js';
import type { DensityOptions } from './preflight/session-parts.js';
import { removalLogPathIn } from './removal-log/removal-log-path.js';
import type { SessionState } from './state/session-state.js';
import type { CompactByProvider } from './strategies/provider-compaction.js';
import type { Todo } from './summarizer/todo.js';

/** What a session starts with. */
export interface SessionOptions extends EditOptions {
  /**
   * Entries of a session that is taken up again. They are the session's from then on. With answers of a model
   * among them they were sent before, by whichever process: see `edits`.
   */
  readonly history?: readonly IContent[] | undefined;
  /**
   * What `snapshot` gave, in whichever process: the session goes on from there with the same `history`, which may have grown.
   * Nothing is counted again, and nothing lands twice. One that is broken, newer or of another history is told of by `stateRefused`
   * or `stateDiverged`.
   */
  readonly state?: SessionState | null | undefined;
  /** What its records stand under; not empty. A session that takes up another one's has its id. @default a random UUID */
  readonly sessionId?: string | undefined;
  /** What is known about the agent: its tools, how it includes files, its own workspace. */
  readonly density?: Partial<DensityOptions> | undefined;
  /**
   * A directory for removal logs: everything which edits take away is written to a file of the session there, before
   * they land. The file is named after the session's id, whatever that holds, as `removalLogPath` says. Without it,
   * or `removalLogPath`, what is pruned is gone. One session has a file open at a time: where another container may
   * have it, creating the session waits up to six seconds to see that it is gone.
   */
  readonly removalLogDirectory?: string | undefined;
  /** The file itself, for who names it: as it is given, so never made of an id that comes from outside. */
  readonly removalLogPath?: string | undefined;
  /**
   * Whether the host has what edits take away itself, and gives it to the model by a tool `recall`: informative placeholders say
   * how then, as they do with a removal log. @default false
   */
  readonly canRecall?: boolean | undefined;
  /** Asked for the agent's todos whenever a model summarizes. Where it fails, the compression does: `TODOS_FAILED`. */
  readonly activeTodos?: (() => readonly Todo[]) | undefined;
  /** Asks the provider to compact, for the strategy `provider`; adapters bring it. @default nobody can */
  readonly compactByProvider?: CompactByProvider | undefined;
  /** Milliseconds that only grow, for who plays what was recorded: caches expire by it. @default those of the process */
  readonly now?: (() => number) | undefined;
  /** System text and tool schemas of every request, in the model's own tokens. @default the compactor's */
  readonly overheadTokens?: number | undefined;
}

const SESSION_OPTIONS: readonly string[] = Object.keys({
  history: true,
  state: true,
  sessionId: true,
  density: true,
  removalLogDirectory: true,
  removalLogPath: true,
  canRecall: true,
  activeTodos: true,
  compactByProvider: true,
  now: true,
  overheadTokens: true,
  edits: true,
  minReclaimTokens: true,
  cacheTtlMs: true,
  reasoning: true,
} satisfies Record<keyof SessionOptions, true>);

const DENSITY_OPTIONS: readonly string[] = Object.keys({
  workspaceRoot: true,
  toolCatalog: true,
  inclusionSyntaxes: true,
  partialWritesSupersede: true,
  workingSet: true,
  shrink: true,
} satisfies Record<keyof DensityOptions, true>);

/**
 * Reads what a session is to start with, and checks what nobody else does.
 *
 * @throws TypeError for options that are of another type.
 */
export function readSessionOptions(given: SessionOptions): SessionOptions {
  const options = readOptions('session options', given);
  assertKnownOptions('session options', { ...options }, SESSION_OPTIONS);
  const { history, removalLogDirectory, removalLogPath, canRecall, activeTodos } = options;
  if (history !== undefined) assertArray('history', history);
  if (removalLogDirectory !== undefined) assertString('removalLogDirectory', removalLogDirectory);
  if (removalLogPath !== undefined) assertString('removalLogPath', removalLogPath);
  if (canRecall !== undefined) assertBoolean('canRecall', canRecall);
  if (activeTodos !== undefined) assertFunction('activeTodos', activeTodos);
  const { compactByProvider, now } = options;
  if (now !== undefined) assertFunction('now', now);
  if (compactByProvider !== undefined) assertFunction('compactByProvider', compactByProvider);
  if (options.density === undefined) return options;
  const density = readOptions('density', options.density);
  assertKnownOptions('density', { ...density }, DENSITY_OPTIONS);
  assertDensityOptions('density', density);
  return { ...options, density: definedOf(density) };
}

/** The file that a session's removal log is, if it has one. @throws TypeError when both a file and a directory are given, or the directory is none. */
export function removalLogPathOf(
  { removalLogPath, removalLogDirectory }: SessionOptions,
  sessionId: string,
): string | undefined {
  if (removalLogDirectory === undefined) return removalLogPath;
  if (removalLogPath !== undefined) {
    throw new TypeError('Expected removalLogDirectory or removalLogPath, got both.');
  }
  if (removalLogDirectory === '') {
    throw new TypeError('Expected removalLogDirectory to be the path of a directory.');
  }
  return removalLogPathIn(removalLogDirectory, sessionId);
}

/** What is `undefined` is not given. */
function definedOf<Options extends object>(options: Options): Options {
  const defined = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Options;
}

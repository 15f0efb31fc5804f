// Owns the entries of one session: validates and appends new ones, applies edits atomically, and tracks revision and token
// counts. When to prune or compress is decided elsewhere.

import { carriesContent } from '../shared/content.js';
import type { IContent } from '../shared/content.js';
import { applyDensityResult, isSameBase, validateDensityResult } from '../shared/density.js';
import type { DensityBase, DensityResult } from '../shared/density.js';
import { CtxfoldError } from '../shared/errors.js';
import { assertIngestible } from '../shared/ingestion.js';
import { completeLimits, type IngestionLimits } from '../shared/ingestion-limits.js';
import {
  assertFunction,
  assertNumber,
  assertString,
  asObject,
  copyOfArray,
  isArray,
  readOptions,
} from '../shared/misuse.js';
import type { Checks } from '../shared/misuse.js';
import type { HistoryChange, HistoryWatcher } from './history-change.js';
import { SILENT_LOGGER } from './host/logger.js';
import type { Logger } from './host/logger.js';
import { SafeEmitter } from './host/safe-emitter.js';
import { Journal } from './state/journal.js';
import { estimateEntries } from './tokens/token-counter.js';
import { TokenLedger } from './tokens/token-ledger.js';
import type { CountEntries, KnownTokens } from './tokens/token-ledger.js';

export interface HistoryServiceOptions {
  /** Counts tokens. @default an estimate by words */
  readonly countEntries?: CountEntries;
  /** Limits on what an entry may contain. */
  readonly limits?: Partial<IngestionLimits>;
  /** Whether added entries are kept even after edits remove them. @default false */
  readonly keepsAdded?: boolean | undefined;
  readonly logger?: Logger;
}

const CHECKS: Checks<HistoryServiceOptions> = {
  countEntries: assertFunction,
  limits: null,
  keepsAdded: null,
  logger: null,
};

/** The events of a history. */
export interface HistoryEvents {
  /** Counts have arrived or entries were removed; `totalTokens` is the new total. */
  tokensUpdated: [{ readonly totalTokens: number }];
}

/** The history of one session. Entries are stored by reference and must not be mutated; an edit replaces them. */
export class HistoryService extends SafeEmitter<HistoryEvents> {
  readonly #watchers = new Set<HistoryWatcher>();
  readonly #limits: IngestionLimits;
  readonly #ledger: TokenLedger;
  #entries: IContent[] = [];
  #revision = 0;
  #additions = 0;
  #journal: Journal;
  /** Entries added while a compression runs; `undefined` when none runs. */
  #queued: IContent[] | undefined;
  #modelName: string | undefined;
  #isClosed = false;

  /** @throws TypeError or RangeError for invalid options. */
  constructor(given: HistoryServiceOptions = {}) {
    const options = readOptions('history options', given, CHECKS);
    super(options.logger ?? SILENT_LOGGER, { tokensUpdated: true });
    this.#limits = completeLimits(options.limits);
    this.#journal = new Journal(options.keepsAdded);
    this.#ledger = new TokenLedger(options.countEntries ?? estimateEntries, () => {
      this.#announceTokens();
    });
  }

  /** Number of entries, without those queued behind a running compression. */
  get length(): number {
    return this.#entries.length;
  }

  /** Incremented by every rewrite. Appending keeps it, since what was derived from existing entries stays valid. */
  get revision(): number {
    return this.#revision;
  }

  /** The state that a plan made now would be based on. */
  get base(): DensityBase {
    return { revision: this.#revision, length: this.#entries.length };
  }

  /** Number of entries ever added from outside; compaction does not change it. */
  get additions(): number {
    return this.#additions;
  }

  /** Records what was added and what landed since the history began or was cleared; `clear` replaces the object. */
  get journal(): Journal {
    return this.#journal;
  }

  /** The most recently named model of this session. */
  get modelName(): string | undefined {
    return this.#modelName;
  }

  /** Whether every entry is counted and none is queued behind a compression. */
  get isCounted(): boolean {
    return this.#ledger.isCounted && (this.#queued === undefined || this.#queued.length === 0);
  }

  /** Whether a compression is rebuilding the history. */
  get isCompressing(): boolean {
    return this.#queued !== undefined;
  }

  /**
   * Appends an entry. While a compression runs, it is queued and appended to the result.
   *
   * @param modelName the model that the session talks to, passed to the token counter
   * @throws TypeError for an entry that a history cannot hold; CtxfoldError `CLOSED` after `close`. Nothing changes then.
   */
  add(content: IContent, modelName?: string): void {
    this.addAll([content], modelName);
  }

  /**
   * Appends entries in order: all of them, or none if one is invalid.
   *
   * @param firstPosition index to use for the first entry in error messages, when these are part of a longer list
   * @throws as `add` does, naming the entry, block and path at fault.
   */
  addAll(contents: readonly IContent[], modelName?: string, firstPosition: number = 0): void {
    this.assertOpen();
    if (!isArray(contents)) {
      throw new TypeError(`Expected an array of entries, got ${typeof contents}.`);
    }
    assertNumber('firstPosition', firstPosition);
    if (modelName !== undefined) assertString('modelName', modelName);
    const entries = copyOfArray('the entries', contents) as IContent[];
    for (const [at, entry] of entries.entries())
      assertIngestible(entry, firstPosition + at, this.#limits);
    this.#additions += entries.length;
    for (const entry of entries) this.#journal.add(entry);
    this.#modelName = modelName ?? this.#modelName;
    if (this.#queued === undefined) this.#append(entries);
    else this.#queued = this.#queued.concat(entries);
  }

  /** Continues from a journal, with its present entries or the next batch of them. The entries must already be validated. */
  goOn(journal: Journal, entries: readonly IContent[], tokens: KnownTokens): void {
    if (this.#journal !== journal) {
      this.#additions += journal.length;
      this.#revision += 1;
      this.#journal = journal;
    }
    this.#append(entries, tokens);
  }

  /** Rejects additions from now on. Running work completes, contents stay readable, and tokens are counted on demand. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#ledger.close();
  }

  /** @throws CtxfoldError `CLOSED` after `close`. */
  assertOpen(): void {
    if (this.#isClosed) throw sessionClosed();
  }

  /** Sets the model that the session talks to, as `add` does. @throws TypeError if it is not a string. */
  nameModel(modelName: string): void {
    assertString('modelName', modelName);
    this.#modelName = modelName;
  }

  /** Removes all entries, including queued ones. A compression that is running becomes a no-op. */
  clear(): void {
    this.#entries = [];
    this.#journal = new Journal(this.#journal.added !== undefined);
    if (this.#queued !== undefined) this.#queued = [];
    this.#revision += 1;
    this.#ledger.clear();
    this.#notifyChange({ kind: 'clear' });
    this.#announceTokens();
  }

  /** Returns a copy of the list of entries. */
  getAll(): IContent[] {
    return this.#entries.slice();
  }

  /** Returns a new list without the `ai` entries that carry no content. */
  getCurated(): IContent[] {
    return this.#entries.filter(
      ({ speaker, blocks }) => speaker !== 'ai' || blocks.some(carriesContent),
    );
  }

  /** Returns the live list of entries, not a copy. */
  getRawHistory(): readonly IContent[] {
    return this.#entries;
  }

  /** Calls `watcher` with each later change; it must not throw or change the history. @returns a function that stops it */
  watch(watcher: HistoryWatcher): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Tokens of all entries; uncounted ones are estimated. */
  getTotalTokens(): number {
    return this.#ledger.total;
  }

  /**
   * Resolves when every entry is counted.
   *
   * @throws CtxfoldError `TOKEN_COUNT_FAILED` when counting failed.
   */
  waitForTokenUpdates(): Promise<void> {
    return this.#ledger.settle();
  }

  /** Waits for all counts and recomputes their sum: one addition per entry, since each entry is counted only once. */
  async recalculateTotalTokens(): Promise<void> {
    await this.#ledger.settle();
    this.#ledger.recount();
    this.#announceTokens();
  }

  /** Tokens of these entries together. Counts already known are reused. */
  async estimateTokensForContents(contents: readonly IContent[]): Promise<number> {
    const counts = await this.countEach(contents);
    return counts.reduce((sum, tokens) => sum + tokens, 0);
  }

  /**
   * Records the known tokens of an entry that is about to be added, so that it need not be counted.
   *
   * @param uncounted the entry reduced to the blocks that `tokens` does not cover @default none
   */
  weigh(content: IContent, tokens: number, uncounted?: IContent): void {
    this.#assertEntries([content]);
    if (uncounted === undefined) this.#ledger.weigh(content, tokens);
    else this.#ledger.weighPart(content, tokens, uncounted);
  }

  /** Tokens of an entry that was counted or weighed, else `undefined`. Never counts. */
  countedTokens(content: IContent): number | undefined {
    return this.#ledger.countedTokens(content);
  }

  /** Tokens of each of these entries, in order. Counts already known are reused. */
  async countEach(contents: readonly IContent[]): Promise<readonly number[]> {
    this.#assertEntries(contents);
    return this.#ledger.countEach(contents);
  }

  /**
   * Applies a density result atomically and synchronously; the returned promise settles with the token counts. Only the
   * preflight may call this.
   *
   * @param base the state that the result was computed from; without it the caller guarantees that it is current
   * @param replayed the journal of the earlier edits of which this one consists
   * @throws CtxfoldError `DENSITY_…` if the result does not fit the history or its base is stale; `COMPRESSION_IN_PROGRESS`
   *   during a compression. Nothing changes then.
   */
  async applyDensityResult(
    result: DensityResult,
    base?: DensityBase,
    replayed?: Journal,
  ): Promise<void> {
    if (this.isCompressing) {
      throw new CtxfoldError(
        'A density result cannot be applied while a compression rebuilds the history; await the compression first.',
        'COMPRESSION_IN_PROGRESS',
      );
    }
    if (base !== undefined) assertCurrentBase(base, this.#revision);
    validateDensityResult(result, base?.length ?? this.#entries.length);
    const { removals, replacements } = result;
    const put = [...replacements.values()];
    this.#assertEntries(put);
    const edited = [...removals, ...replacements.keys()];
    const gone = edited.flatMap((index) => this.#entries[index] ?? []);
    this.#journal.noteEdit(this.#addedEntries, this.#entries, result, replayed);
    applyDensityResult(this.#entries, result);
    this.#revision += 1;
    this.#ledger.add(put);
    this.#ledger.remove(gone);
    this.#notifyChange({ kind: 'edit', removals, replacements });
    this.#announceTokens();
    await this.waitForTokenUpdates();
  }

  /** Starts a compression: additions are queued until it ends. @throws CtxfoldError `COMPRESSION_IN_PROGRESS` */
  startCompression(): void {
    this.assertNotCompressing();
    this.#queued = [];
  }

  /** @throws CtxfoldError `COMPRESSION_IN_PROGRESS` */
  assertNotCompressing(): void {
    if (!this.isCompressing) return;
    throw new CtxfoldError('A compression is under way; let it end.', 'COMPRESSION_IN_PROGRESS');
  }

  /** Ends a compression and appends the queued entries in order. No-op without one. */
  endCompression(): void {
    const queued = this.#queued;
    this.#queued = undefined;
    if (queued !== undefined) this.#append(queued);
  }

  /**
   * Replaces the entries with a compressed list. Entries in both lists keep their counts.
   *
   * @param base the state that the list was made from
   * @returns `false`, without effect, if the history was rewritten or has grown since: entries would be lost
   */
  replaceAll(contents: readonly IContent[], base: DensityBase): boolean {
    assertBase(base);
    if (!isSameBase(base, this.base)) return false;
    this.#assertEntries(contents);
    const former = this.#entries;
    this.#journal.noteRewrite(this.#addedEntries, former, contents);
    this.#entries = contents.slice();
    this.#revision += 1;
    this.#ledger.add(contents);
    this.#ledger.remove(former);
    this.#notifyChange({ kind: 'rewrite', former, contents });
    this.#announceTokens();
    return true;
  }

  /** Number of entries added, without the queued ones. */
  get #addedEntries(): number {
    return this.#journal.length - (this.#queued?.length ?? 0);
  }

  #append(contents: readonly IContent[], tokens?: KnownTokens): void {
    for (const content of contents) this.#entries.push(content);
    this.#ledger.add(contents, this.#modelName, tokens);
    if (contents.length > 0) this.#notifyChange({ kind: 'append', contents });
  }

  #notifyChange(change: HistoryChange): void {
    const state = {
      base: this.base,
      entries: this.#entries,
      countedTokens: (entry: IContent) => this.#ledger.tokensOfWhole(entry),
    };
    for (const watcher of this.#watchers) watcher(change, state);
  }

  /** Validates entries, except those with known tokens, which were validated before. */
  #assertEntries(contents: readonly IContent[]): void {
    for (const [at, content] of copyOfArray('the entries', contents).entries()) {
      if (this.#ledger.countedTokens(content as IContent) !== undefined) continue;
      assertIngestible(content, at, this.#limits);
    }
  }

  #announceTokens(): void {
    this.notify('tokensUpdated', { totalTokens: this.#ledger.total });
  }
}

function assertCurrentBase(base: DensityBase, revision: number): void {
  assertBase(base);
  if (base.revision === revision) return;
  throw new CtxfoldError(
    `The density result was computed from revision ${base.revision}, the history is at ${revision}; compute it again.`,
    'DENSITY_STALE',
  );
}

/** The error of calls into a closed session. */
export function sessionClosed(): CtxfoldError {
  return new CtxfoldError(
    'The session is closed, or its compactor is; create another one to go on.',
    'CLOSED',
  );
}

function assertBase(base: DensityBase): void {
  const { revision, length } = asObject(base, 'base', 'the state of a history');
  assertNumber('revision', revision);
  assertNumber('length', length);
}

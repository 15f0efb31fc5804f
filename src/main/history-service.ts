// Owns the entries of one session: takes new ones in, applies edits whole or not at all, and knows
// its revision and its tokens. Decides nothing about when to prune or compress.

import { carriesContent } from '../shared/content.js';
import type { IContent } from '../shared/content.js';
import { applyDensityResult, validateDensityResult } from '../shared/density.js';
import type { DensityBase, DensityResult } from '../shared/density.js';
import { CtxfoldError } from '../shared/errors.js';
import {
  assertArray,
  assertFunction,
  assertNumber,
  assertString,
  elementAt,
  isArray,
  readOptions,
} from '../shared/misuse.js';
import { assertIngestible } from '../shared/ingestion.js';
import type { IngestionLimits } from '../shared/ingestion.js';
import { estimateEntryTokens } from '../shared/tokens/estimate.js';
import { assertBase, assertCurrentBase } from './history-base.js';
import type { HistoryChange, HistoryMirror } from './history-change.js';
import { completeLimits } from './history-limits.js';
import { Journal } from './state/journal.js';
import type { JournalRecords } from './state/journal.js';
import { SILENT_LOGGER } from './host/logger.js';
import type { Logger } from './host/logger.js';
import { SafeEmitter } from './safe-emitter.js';
import { TokenLedger } from './tokens/token-ledger.js';
import type { CountEntries, KnownTokens } from './tokens/token-ledger.js';

/** What a history tells its listeners. */
export interface HistoryEvents {
  /** Counts have arrived or entries have gone: the total is now this many tokens. */
  tokensUpdated: [{ readonly totalTokens: number }];
}

export interface HistoryServiceOptions {
  /** Counts tokens. @default an estimate by words */
  readonly countEntries?: CountEntries;
  /** Keeps a second account of the history, told of each change. @default nobody does */
  readonly mirror?: HistoryMirror | undefined;
  /** What an entry may be. */
  readonly limits?: Partial<IngestionLimits>;
  /** Whether the entries are kept that were added, whatever becomes of them. @default false */
  readonly keepsAdded?: boolean | undefined;
  readonly logger?: Logger;
}

/**
 * The history of one session. Entries are taken as they are and must not be changed afterwards; an
 * edit puts other entries in their place.
 */
export class HistoryService extends SafeEmitter<HistoryEvents> {
  readonly #mirror: HistoryMirror | undefined;
  readonly #watchers = new Set<(change: HistoryChange) => void>();
  readonly #limits: IngestionLimits;
  readonly #ledger: TokenLedger;
  #entries: IContent[] = [];
  #revision = 0;
  #additions = 0;
  #journal: Journal;
  /** While a compression runs, what was added meanwhile; otherwise `undefined`. */
  #queued: IContent[] | undefined;
  #modelName: string | undefined;
  #isClosed = false;

  /** @throws TypeError or RangeError for options that are not what they have to be. */
  constructor(given: HistoryServiceOptions = {}) {
    const options = readOptions('history options', given);
    super(options.logger ?? SILENT_LOGGER);
    if (options.countEntries !== undefined) assertFunction('countEntries', options.countEntries);
    this.#mirror = options.mirror;
    this.#limits = completeLimits(options.limits);
    this.#journal = new Journal(options.keepsAdded);
    this.#ledger = new TokenLedger(options.countEntries ?? estimateEntries, () => {
      this.#announceTokens();
    });
  }

  /** Entries in the history, without those that wait for a compression to end. */
  get length(): number {
    return this.#entries.length;
  }

  /** Changes with every rewrite. Appending keeps it: what was said about the entries before stays true. */
  get revision(): number {
    return this.#revision;
  }

  /** The state that a plan made now would be based on. */
  get base(): DensityBase {
    return { revision: this.#revision, length: this.#entries.length };
  }

  /** Entries ever added from outside. Grows with content, never by what a compaction does. */
  get additions(): number {
    return this.#additions;
  }

  /** What was added since the history began or was cleared, and what has landed in it; another object after that. */
  get journal(): Journal {
    return this.#journal;
  }

  /** The model that the session talks to, as it was named last. */
  get modelName(): string | undefined {
    return this.#modelName;
  }

  /** Whether every entry is counted, and none waits for a compression to end. */
  get isCounted(): boolean {
    return this.#ledger.isCounted && (this.#queued === undefined || this.#queued.length === 0);
  }

  /** Whether a compression is rebuilding the history. */
  get isCompressing(): boolean {
    return this.#queued !== undefined;
  }

  /**
   * Appends an entry. While a compression runs it is queued, and stands behind what that leaves.
   *
   * @param modelName the model that the session talks to, for a counter that wants to know
   * @throws TypeError when the entry is not what a history can hold; CtxfoldError `CLOSED` when the
   * session is. Nothing changes then.
   */
  add(content: IContent, modelName?: string): void {
    this.addAll([content], modelName);
  }

  /**
   * Appends entries in their order: all, or none when one of them cannot be held.
   *
   * @param firstPosition what the first of them is called in messages, when they are a part of something longer
   * @throws as `add` does, naming the entry, block and path at fault.
   */
  addAll(contents: readonly IContent[], modelName?: string, firstPosition: number = 0): void {
    this.assertOpen();
    if (!isArray(contents)) {
      throw new TypeError(`Expected an array of entries, got ${typeof contents}.`);
    }
    assertNumber('firstPosition', firstPosition);
    if (modelName !== undefined) assertString('modelName', modelName);
    // By index: an array may have methods of its own, and holes.
    const entries: IContent[] = [];
    for (let at = 0; at < contents.length; at += 1) {
      const content = elementAt('the entries', contents, at);
      assertIngestible(content, firstPosition + at, this.#limits);
      entries.push(content);
    }
    this.#additions += entries.length;
    for (const entry of entries) this.#journal.add(entry);
    this.#modelName = modelName ?? this.#modelName;
    if (this.#queued === undefined) this.#append(entries);
    else this.#queued = this.#queued.concat(entries);
  }

  /** Goes on from a journal, and takes in what that has made of its entries, or the next part of that: checked ones. */
  goOn(journal: Journal, entries: readonly IContent[], tokens: KnownTokens): void {
    if (this.#journal !== journal) {
      this.#additions += journal.length;
      this.#revision += 1;
      this.#journal = journal;
    }
    this.#append(entries, tokens);
  }

  /**
   * Takes nothing in any more. What is under way ends as it would have, and what there is can be read. May be called
   * again.
   */
  close(): void {
    this.#isClosed = true;
  }

  /** @throws CtxfoldError `CLOSED` once the history was closed. */
  assertOpen(): void {
    if (!this.#isClosed) return;
    throw new CtxfoldError('The session is closed; create another one to go on.', 'CLOSED');
  }

  /** Names the model that the session talks to from now on, as `add` does with an entry. @throws TypeError for no string. */
  nameModel(modelName: string): void {
    assertString('modelName', modelName);
    this.#modelName = modelName;
  }

  /** Removes all entries, queued ones too. A compression that is under way will have no effect. */
  clear(): void {
    this.#entries = [];
    this.#journal = new Journal(this.#journal.added !== undefined);
    if (this.#queued !== undefined) this.#queued = [];
    this.#revision += 1;
    this.#ledger.clear();
    this.#tell({ kind: 'clear' });
    this.#announceTokens();
  }

  /** A copy of the list of entries. */
  getAll(): IContent[] {
    return this.#entries.slice();
  }

  /** The entries without the `ai` ones that carry no content. A new list. */
  getCurated(): IContent[] {
    return this.#entries.filter(
      ({ speaker, blocks }) => speaker !== 'ai' || blocks.some(carriesContent),
    );
  }

  /** The entries themselves: a view that changes with the history. */
  getRawHistory(): readonly IContent[] {
    return this.#entries;
  }

  /**
   * Tells of each change from now on, once it stands, as a mirror is told. The watcher must not throw and not change the history.
   *
   * @returns what ends that
   */
  watch(watcher: (change: HistoryChange) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Tokens of all entries; an estimate for those that are not counted yet. */
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

  /**
   * Settles all counts and sums them anew. Each entry is counted once in its life, so this costs one
   * addition per entry and gives what counting everything again would give.
   */
  async recalculateTotalTokens(): Promise<void> {
    await this.#ledger.settle();
    this.#ledger.recount();
    this.#announceTokens();
  }

  /** Tokens of these entries together. Those of the history are not counted again. */
  async estimateTokensForContents(contents: readonly IContent[]): Promise<number> {
    const counts = await this.countEach(contents);
    return counts.reduce((sum, tokens) => sum + tokens, 0);
  }

  /**
   * Notes the tokens of an entry that is about to come in and that somebody knows without a count,
   * so that it needs none.
   *
   * @param uncounted the entry with those of its blocks alone whose tokens are not among them @default all are
   */
  weigh(content: IContent, tokens: number, uncounted?: IContent): void {
    this.#assertEntries([content]);
    if (uncounted === undefined) this.#ledger.weigh(content, tokens);
    else this.#ledger.weighPart(content, tokens, uncounted);
  }

  /** Tokens of an entry that was counted or weighed, or `undefined`. Counts nothing. */
  countedTokens(content: IContent): number | undefined {
    return this.#ledger.countedTokens(content);
  }

  /** Tokens of each of these entries, in their order. Those of the history are not counted again. */
  async countEach(contents: readonly IContent[]): Promise<readonly number[]> {
    this.#assertEntries(contents);
    return this.#ledger.countEach(contents);
  }

  /**
   * Applies a density result, all of it at once before this returns its promise; the promise settles
   * the tokens. Belongs into the preflight and nowhere else.
   *
   * @param base the state that the result was computed from; without it the caller vouches for it
   * @param records of a history that has landed before: what the edit is made of
   * @throws CtxfoldError `DENSITY_…` when the result does not fit the history, or was
   * computed from a revision that is gone; `COMPRESSION_IN_PROGRESS` during a compression. Nothing
   * changes then.
   */
  async applyDensityResult(
    result: DensityResult,
    base?: DensityBase,
    records?: JournalRecords,
  ): Promise<void> {
    if (this.isCompressing) {
      throw new CtxfoldError(
        'A density result cannot be applied while a compression rebuilds the history; await the compression first.',
        'COMPRESSION_IN_PROGRESS',
      );
    }
    assertCurrentBase(base, this.#revision);
    validateDensityResult(result, base?.length ?? this.#entries.length);
    this.#assertEntries([...result.replacements.values()]);
    const replaced = [...result.replacements.keys()];
    const gone = [...result.removals, ...replaced].flatMap((index) => this.#entries[index] ?? []);
    this.#journal.noteEdit(this.#added, this.#entries, result, records);
    applyDensityResult(this.#entries, result);
    this.#revision += 1;
    this.#ledger.add([...result.replacements.values()]);
    this.#ledger.remove(gone);
    this.#tell({ kind: 'edit', removals: result.removals, replacements: result.replacements });
    this.#announceTokens();
    await this.waitForTokenUpdates();
  }

  /**
   * Begins a compression: what is added from now on waits until it has ended.
   *
   * @throws CtxfoldError `COMPRESSION_IN_PROGRESS` when one is under way.
   */
  startCompression(): void {
    if (this.#queued !== undefined) {
      throw new CtxfoldError(
        'A compression is under way; end it before another one starts.',
        'COMPRESSION_IN_PROGRESS',
      );
    }
    this.#queued = [];
  }

  /** Ends a compression; what was added meanwhile follows in its order. Without one, does nothing. */
  endCompression(): void {
    const queued = this.#queued;
    this.#queued = undefined;
    if (queued !== undefined) this.#append(queued);
  }

  /**
   * Puts a compressed history in place of the present one. Entries that both have keep their counts.
   *
   * @param base the state that it was made from
   * @returns whether it was: `false` when the history was rewritten or has grown since, as then
   * something would be lost
   */
  replaceAll(contents: readonly IContent[], base: DensityBase): boolean {
    assertBase(base);
    if (base.revision !== this.#revision || base.length !== this.#entries.length) return false;
    this.#assertEntries(contents);
    const former = this.#entries;
    this.#journal.noteRewrite(this.#added, former, contents);
    this.#entries = contents.slice();
    this.#revision += 1;
    this.#ledger.add(contents);
    this.#ledger.remove(former);
    this.#tell({ kind: 'rewrite', former, contents });
    this.#announceTokens();
    return true;
  }

  /** Entries that were added, without those that wait. */
  get #added(): number {
    return this.#journal.length - (this.#queued?.length ?? 0);
  }

  #append(contents: readonly IContent[], tokens?: KnownTokens): void {
    for (const content of contents) this.#entries.push(content);
    this.#ledger.add(contents, this.#modelName, tokens);
    if (contents.length > 0) this.#tell({ kind: 'append', contents });
  }

  #tell(change: HistoryChange): void {
    for (const watcher of this.#watchers) watcher(change);
    this.#mirror?.noteChange(change, {
      base: this.base,
      entries: this.#entries,
      countedTokens: (entry) => this.#ledger.tokensOfWhole(entry),
    });
  }

  /** Those that were counted or weighed came in as entries. */
  #assertEntries(contents: readonly IContent[]): void {
    assertArray('the entries', contents);
    for (let at = 0; at < contents.length; at += 1) {
      const content = elementAt('the entries', contents, at);
      if (this.#ledger.countedTokens(content as IContent) !== undefined) continue;
      assertIngestible(content, at, this.#limits);
    }
  }

  #announceTokens(): void {
    this.notify('tokensUpdated', { totalTokens: this.#ledger.total });
  }
}

function estimateEntries(contents: readonly IContent[]): Promise<readonly number[]> {
  return Promise.resolve(contents.map(estimateEntryTokens));
}

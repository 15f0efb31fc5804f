// Everything that density passes need to know about a history, without its payloads. Each entry is
// visited once, when it is appended; each pass then only scans the columns, which is far cheaper.

import { callName } from '../../call-name.js';
import type { IContent, ToolCallBlock, ToolResponseBlock } from '../../content.js';
import { placeholderKind } from '../../placeholder.js';
import { sourceIdsOf } from '../../shrink/shown-before.js';
import type { ShownElsewhere } from '../../shrink/shown-before.js';
import { estimateResultTokens } from '../../tokens/estimate.js';
import { serverOf, usesOf } from '../../tool-catalog.js';
import type { ToolUse } from '../../tool-use.js';
import { callUse } from './call-use.js';
import type { CallUse } from './call-use.js';
import { NO_SIGNATURE, signatureOf } from './hash.js';
import { isExcerpt, isExcerptible } from './excerpt.js';
import { findInclusions } from './file-inclusions.js';
import {
  CALL_ACCESS,
  CALL_KIND,
  AnswerColumns,
  CallColumns,
  InclusionColumns,
  hasPlaceholder,
  NONE,
  RESPONSE_FLAG,
  ResponseColumns,
  IntColumn,
  type Stretch,
} from './history-columns.js';
import type { IndexScope } from './index-scope.js';
import { OpenCalls, pairRows } from './open-calls.js';
import { numberIn, PathTable, TextTable } from './text-table.js';
import { REACH_RESULTS, UnsentResults } from './unsent-results.js';
import type { ComparedLines, EntryPlace } from './unsent-results.js';
import type { ShownRun } from './shown-lines.js';
import { spendableTokens } from './spent-text.js';
import { firstRowFrom, rowAt, stretchesOfRows, type EntryStretches } from './stretches.js';

/** The index of the chosen entries, and which rows of the former index its rows were copied from. */
export interface ChosenIndex {
  readonly index: HistoryIndex;
  readonly callRows: readonly Stretch[];
  readonly responseRows: readonly Stretch[];
}

/** The replacement of a result, and which of its lines earlier results show. */
export interface ShrunkText {
  readonly text: string;
  readonly runs: readonly ShownElsewhere[];
}

/** The index of one history. Holds only what its scope asks for. */
export class HistoryIndex {
  readonly calls: CallColumns = new CallColumns();
  readonly responses: ResponseColumns = new ResponseColumns();
  readonly partials: AnswerColumns = new AnswerColumns();
  readonly inclusions: InclusionColumns = new InclusionColumns();
  /** The `ai` entries (answers of the model), ascending. */
  readonly answers: IntColumn = new IntColumn();

  readonly #scope: IndexScope;
  readonly #paths: PathTable;
  readonly #tools: Map<string, number>;
  readonly #groups: Map<string, number>;
  readonly #openCalls = new OpenCalls();
  /** Call ids, if the history may be rewritten or results are shrunk; and call names, if results are shrunk. Else empty. */
  #ids: TextTable;
  #names: TextTable;
  #unsent = new UnsentResults();
  #length = 0;

  /** @param former an index to share path, tool, group, id and name numbers with */
  constructor(scope: IndexScope, former?: HistoryIndex) {
    this.#scope = scope;
    this.#paths = former === undefined ? new PathTable(scope.workspaceRoot) : former.#paths;
    this.#tools = former === undefined ? new Map<string, number>() : former.#tools;
    this.#groups = former === undefined ? new Map<string, number>() : former.#groups;
    this.#ids = former === undefined ? new TextTable() : former.#ids;
    this.#names = former === undefined ? new TextTable() : former.#names;
  }

  /** The number of appended entries. */
  get length(): number {
    return this.#length;
  }

  /** The number of distinct files named so far; path ids are below it. */
  get pathCount(): number {
    return this.#paths.size;
  }

  /** The number of distinct tool names so far; tool ids are below it. */
  get toolCount(): number {
    return this.#tools.size;
  }

  /** The number of distinct parallel groups so far; group ids are below it. */
  get groupCount(): number {
    return this.#groups.size;
  }

  get idCount(): number {
    return this.#ids.size;
  }

  idOf(number: number): string {
    return this.#ids.textOf(number);
  }

  /** The numbers of the ids that a text of `responses.source` lists. */
  idsListedIn(number: number): readonly number[] {
    return this.#ids.listedIn(number);
  }

  /** A rewrite pairs calls and responses again by id, and shrunk results refer to others by call id. */
  get #keepsIds(): boolean {
    return this.#scope.isRewritable || this.#scope.unsent;
  }

  /** Appends the entries after the indexed ones, up to `end`. The remaining ones must be appended before planning. */
  extend(history: readonly IContent[], end: number = history.length): void {
    const reach = this.#scope.unsent ? this.#unsent.outOfReachLengthIn(history, this.#length) : 0;
    // Read by index, because the caller's array may override methods such as its iterator.
    for (let at = this.#length; at < end; at += 1) {
      this.append(history[at] as IContent, at < reach ? 'out-of-reach' : 'end');
    }
  }

  append({ speaker, blocks }: IContent, place: EntryPlace = 'end'): void {
    const entry = this.#length;
    this.#length += 1;
    if (speaker === 'ai') {
      this.answers.push(entry);
      for (let block = 0; block < blocks.length; block += 1) {
        const content = blocks[block];
        if (content?.type === 'tool_call') this.#appendCall(entry, block, content, place);
      }
    } else if (speaker === 'tool') {
      for (let block = 0; block < blocks.length; block += 1) {
        const content = blocks[block];
        if (content?.type === 'tool_response') {
          this.#appendResponse(entry, block, content, place);
        }
      }
    } else if (this.#scope.inclusionSyntaxes.length > 0) {
      this.#appendInclusions(entry, blocks);
    }
  }

  /**
   * Returns the index of a history made of these entries in this order. Equals an index fed with
   * that history from scratch, but is built from the columns; only calls and responses are paired
   * anew. This index must not be used afterwards. Needs a rewritable scope.
   */
  chosen(entries: EntryStretches): ChosenIndex {
    const index = new HistoryIndex(this.#scope, this);
    const stretches = entries.list();
    const callRows = stretchesOfRows(this.calls.entry, stretches);
    const responseRows = stretchesOfRows(this.responses.entry, stretches);
    const partialRows = stretchesOfRows(this.partials.entry, stretches);
    const inclusionRows = stretchesOfRows(this.inclusions.entry, stretches);
    index.calls.pushRows(this.calls, callRows);
    index.responses.pushRows(this.responses, responseRows);
    index.partials.pushRows(this.partials, partialRows);
    index.inclusions.pushRows(this.inclusions, inclusionRows);
    index.answers.pushShifted(this.answers, stretchesOfRows(this.answers, stretches));
    index.#length = entries.length;
    index.#unsent = this.#unsent.chosen(index.responses, responseRows, index.#lastAnswer);
    index.#pairAll();
    return { index, callRows, responseRows };
  }

  /** Where the replacements of edited entries are: out of reach if `REACH_RESULTS` unedited results and then an unedited answer follow. */
  placesOf(edited: ReadonlySet<number>): (entry: number) => EntryPlace {
    const reach = this.#outOfReachBefore(edited);
    return (entry) => (entry < reach ? 'moved-out-of-reach' : 'moved');
  }

  #outOfReachBefore(edited: ReadonlySet<number>): number {
    const { answers } = this;
    let answer = answers.length - 1;
    while (answer >= 0 && edited.has(answers.at(answer))) answer -= 1;
    if (answer < 0) return 0;
    const { entry: entryOf } = this.responses;
    let results = 0;
    for (let row = firstRowFrom(entryOf, answers.at(answer)) - 1; row >= 0; row -= 1) {
      const entry = entryOf.at(row);
      if (!edited.has(entry)) results += 1;
      if (results === REACH_RESULTS) return entry;
    }
    return 0;
  }

  get #lastAnswer(): number {
    const { answers } = this;
    return answers.length === 0 ? 0 : answers.at(answers.length - 1);
  }

  /** The results after the last answer that may be shrunk, by row. Drops older ones. */
  unsentResults(): ReturnType<UnsentResults['from']> {
    return this.#unsent.from(this.#lastAnswer, this.responses);
  }

  /**
   * The lines of an unsent result that earlier results show, counting only rows for which `mayBeSource` holds.
   */
  shownOf(result: ComparedLines, mayBeSource: (row: number) => boolean): readonly ShownRun[] {
    return this.#unsent.shownOf(result, this.responses, mayBeSource);
  }

  /** The name of the call that this response row answers. */
  nameAt(row: number): string {
    const call = this.responses.call.at(row);
    return call === NONE ? callName(undefined) : this.#names.textOf(this.calls.name.at(call));
  }

  /** Updates the rows of an entry whose unsent results were shrunk. */
  noteShrunk(entry: number, { blocks }: IContent): void {
    const { responses } = this;
    const unsent = this.unsentResults();
    for (const [at, block] of blocks.entries()) {
      const row = rowAt(responses, entry, at);
      if (unsent.get(row) === undefined || block.type !== 'tool_response') continue;
      const flags = this.#flagsOf(block);
      responses.flags.set(row, flags);
      if (this.#scope.workingSet) {
        responses.tokens.set(row, hasPlaceholder(flags) ? 0 : estimateResultTokens(block));
      }
      responses.text.set(row, this.#unsent.noteShrunk(row, responses, block));
      responses.source.set(row, this.#sourcesOf(block));
    }
  }

  #sourcesOf({ result }: ToolResponseBlock): number {
    const ids = sourceIdsOf(result);
    return ids === '' ? NONE : this.#ids.numberOf(ids);
  }

  /** The replacement of an unsent result. @throws RangeError if there is none. */
  shrunkAt(entry: number, block: number): ShrunkText {
    const result = this.unsentResults().get(rowAt(this.responses, entry, block));
    const { text, runs = [] } = result?.shrunk ?? {};
    if (text !== undefined) return { text, runs };
    throw new RangeError('Nothing takes the place of this result.');
  }

  /** What a call does, by the tool catalog and, for a command, by its text. */
  useOf(call: ToolCallBlock): CallUse {
    return callUse(this.#usesOf, call, true);
  }

  readonly #usesOf = (tool: string): readonly ToolUse[] => usesOf(this.#scope.toolCatalog, tool);

  #pairAll(): void {
    const { calls, responses, partials } = this;
    this.#ids = this.#ids.withoutUnused([calls.id, responses.id, responses.source, partials.id]);
    this.#names = this.#names.withoutUnused([calls.name]);
    pairRows(this, this.idCount);
    for (let row = 0; row < calls.length; row += 1) {
      if (calls.response.at(row) === NONE) this.#openCalls.add(this.idOf(calls.id.at(row)), row);
    }
  }

  #appendCall(entry: number, block: number, call: ToolCallBlock, place: EntryPlace): void {
    const use = callUse(this.#usesOf, call, this.#scope.workingSet);
    const { calls } = this;
    if (use.paths.length > 0) {
      // Each server may have files of its own.
      const where = this.#scope.workingSet ? serverOf(call.name) + (use.place ?? '') : '';
      for (const path of use.paths) calls.paths.push(this.#paths.idOf(path, where));
    }
    this.#openCalls.add(call.id, calls.length);
    if (this.#scope.unsent) this.#unsent.noteCall(call, place);
    calls.entry.push(entry);
    calls.block.push(block);
    calls.response.push(NONE);
    calls.access.push(use.access);
    const { parallelGroup: group } = call;
    calls.group.push(group === undefined ? NONE : numberIn(this.#groups, group));
    calls.pathCount.push(use.paths.length);
    if (this.#scope.workingSet) this.#noteUse(call, use);
    if (this.#keepsIds) calls.id.push(this.#ids.numberOf(call.id));
    if (this.#scope.unsent) calls.name.push(this.#names.numberOf(callName(call)));
  }

  #noteUse(call: ToolCallBlock, { access, kind, lines, command }: CallUse): void {
    const { calls } = this;
    calls.kind.push(kind);
    const isWholeFile = access === CALL_ACCESS.writeWhole;
    const canShorten = kind === CALL_KIND.write && call.hasFixedParameters !== true;
    calls.spendable.push(canShorten ? spendableTokens(call.parameters, isWholeFile) : 0);
    calls.firstLine.push(lines?.first ?? NONE);
    calls.lastLine.push(lines?.last ?? NONE);
    // Reads of known lines are compared by lines. Writes, and calls for more output of a command, never repeat an earlier call.
    const asksForMore = kind === CALL_KIND.command && command === undefined;
    const neverRepeats = kind === CALL_KIND.write || lines !== undefined || asksForMore;
    calls.signature.push(
      neverRepeats ? NO_SIGNATURE : signatureOf(call.name, command ?? call.parameters),
    );
  }

  #appendResponse(
    entry: number,
    block: number,
    response: ToolResponseBlock,
    place: EntryPlace,
  ): void {
    const { calls, responses, partials } = this;
    const { callId } = response;
    // A tool that still runs has not answered: its call stays open, and its payload may change.
    if (response.isComplete === false) {
      if (!this.#scope.isRewritable) return;
      partials.entry.push(entry);
      partials.block.push(block);
      partials.call.push(this.#openCalls.newest(callId));
      partials.id.push(this.#ids.numberOf(callId));
      return;
    }
    // Tool names and results are elsewhere in memory; do not pay for fetching them if no rule needs them.
    const { recency, workingSet, unsent } = this.#scope;
    if (recency) responses.tool.push(numberIn(this.#tools, response.toolName));
    const flags = this.#flagsOf(response);
    if (workingSet) {
      responses.tokens.push(hasPlaceholder(flags) ? 0 : estimateResultTokens(response));
    }
    if (unsent) {
      responses.text.push(this.#unsent.noteResult(responses, response, place, this.#lastAnswer));
      responses.source.push(this.#sourcesOf(response));
    }
    const call = this.#openCalls.take(callId);
    if (call !== NONE) calls.response.set(call, responses.length);
    responses.entry.push(entry);
    responses.block.push(block);
    responses.call.push(call);
    responses.flags.push(flags);
    if (!this.#keepsIds) return;
    responses.id.push(call === NONE ? this.#ids.numberOf(callId) : calls.id.at(call));
  }

  #flagsOf(response: ToolResponseBlock): number {
    const { recency, workingSet, unsent } = this.#scope;
    let flags: number = response.error ? RESPONSE_FLAG.failed : 0;
    if (recency || workingSet || unsent) flags |= PLACEHOLDER_FLAGS[placeholderKind(response)];
    if (workingSet && !hasPlaceholder(flags)) flags |= textFlags(response.result);
    return flags;
  }

  #appendInclusions(entry: number, blocks: IContent['blocks']): void {
    const { inclusions } = this;
    for (const found of findInclusions(blocks, this.#scope)) {
      const isText = 'start' in found;
      inclusions.entry.push(entry);
      inclusions.block.push(found.block);
      inclusions.path.push(this.#paths.idOf(found.path));
      inclusions.start.push(isText ? found.start : NONE);
      inclusions.end.push(isText ? found.end : NONE);
      inclusions.groupOpen.push(isText ? NONE : found.group.open);
      inclusions.groupClose.push(isText ? NONE : found.group.close);
    }
  }
}

const PLACEHOLDER_FLAGS = {
  none: 0,
  summary: RESPONSE_FLAG.summary,
  pointer: RESPONSE_FLAG.pruned,
} as const;

function textFlags(result: unknown): number {
  if (isExcerptible(result)) return RESPONSE_FLAG.text;
  return isExcerpt(result) ? RESPONSE_FLAG.excerpt : 0;
}

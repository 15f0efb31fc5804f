// Explains a density pass: finds the facts behind what the phases marked, entry by entry. Decides
// nothing itself, and edits nothing; for people who look on, not for the way to a model.

import type { ContentBlock, IContent, ToolCallBlock, ToolResponseBlock } from '../../content.js';
import type { DensityConfig, DensityResult } from '../../density.js';
import { placeholderKind } from '../../summarize/placeholder.js';
import { DEFAULT_TOOL_CATALOG } from '../../tool-catalog.js';
import type { ToolUse } from '../../tool-catalog.js';
import { callUse } from '../index/call-use.js';
import type { CallUse } from '../index/call-use.js';
import { explanationText } from './explain-text.js';
import type {
  BlockExplanation,
  BlockPlace,
  CallPlace,
  CallPurpose,
  DensityFinding,
  DensityVerdict,
  EntryExplanation,
  ExplainedBlock,
  NoFinding,
} from './explanation.js';
import { WorkingSetExplainer } from './explain-working-set.js';
import { findInclusions } from '../index/file-inclusions.js';
import { CALL_ACCESS, CALL_KIND, NONE, RESULT_MARK } from '../index/history-columns.js';
import { HistoryIndex } from '../index/history-index.js';
import { scopeOfPass } from '../index/index-scope.js';
import type { IntColumn } from '../index/int-column.js';
import { doPartialWritesSupersede, markHistory } from '../rules/mark-history.js';
import type { HistoryMarks } from '../rules/mark-history.js';
import { materializeDensityPlan } from '../plan/materialize.js';
import { planMarked } from '../plan/optimize.js';
import { latestWrites } from '../rules/read-write.js';
import { resultsKept, visitByRecency } from '../rules/recency.js';
import { assertWorkingSetRules } from '../rules/working-set-rules.js';

/** The explanation of one density pass. */
export interface DensityExplanation {
  /** The pass itself: what `optimize` returns. */
  readonly result: DensityResult;
  /**
   * Tells which rule keeps or takes away what an entry holds, and the facts behind it. Takes time in proportion
   * to the entry.
   *
   * @throws RangeError when the history has no entry at this index.
   */
  readonly explain: (index: number) => EntryExplanation;
}

/**
 * Explains what `optimize` does with a history: runs the same phases, and keeps what they go by. Takes about as
 * long as `optimize` does; the history must not change while the explanation is in use.
 *
 * @throws RangeError for rules of a working set that are none.
 */
export function explainDensity(
  history: readonly IContent[],
  config: DensityConfig,
): DensityExplanation {
  const explainer = new Explainer(history, config);
  return {
    result: explainer.result,
    explain: (index) => explainer.explain(index),
  };
}

/** What there is to say of a block, but for what all blocks have. */
type Verdict = DensityFinding & Pick<ExplainedBlock, 'verdict'>;
type About = Omit<ExplainedBlock, 'block' | 'type' | 'verdict' | 'text'>;

const ABOUT_NOTHING: About = {
  callId: null,
  toolName: null,
  purpose: null,
  paths: [],
  partner: null,
};

/** An inclusion of an entry: its row, and the file as it is spelled. */
interface InclusionRow {
  readonly row: number;
  readonly path: string;
}

const COMPANION: Verdict = { rule: 'none', reason: 'companion', verdict: 'dropped' };
const CURRENT: Verdict = { rule: 'read-write', reason: 'current', by: null, verdict: 'kept' };

const RESULT_VERDICTS: Readonly<Record<number, DensityVerdict>> = {
  [RESULT_MARK.pointer]: 'placeholder',
  [RESULT_MARK.excerpt]: 'excerpt',
};

const PURPOSES: Readonly<Record<number, CallPurpose>> = {
  [CALL_KIND.read]: 'read',
  [CALL_KIND.write]: 'write',
  [CALL_KIND.search]: 'search',
  [CALL_KIND.command]: 'command',
};

class Explainer {
  readonly result: DensityResult;
  readonly #history: readonly IContent[];
  readonly #config: DensityConfig;
  readonly #index: HistoryIndex;
  readonly #marks: HistoryMarks;
  readonly #removed: ReadonlySet<number>;
  /** By response, the row of the call that it answers, or `NONE`. */
  readonly #callOf: Int32Array;
  /** By call, where its paths begin. */
  readonly #firstPath: Int32Array;
  /** By path, the row of the latest call that wrote the file; by path, that of its newest inclusion. */
  readonly #latestWrite: Int32Array;
  readonly #newestInclusion: Int32Array;
  /** By response, its rank among the results of its tool; empty when recency pruning is off. */
  readonly #ranks: Int32Array;
  readonly #workingSet: WorkingSetExplainer | undefined;

  constructor(history: readonly IContent[], config: DensityConfig) {
    if (config.workingSet !== undefined) assertWorkingSetRules(config.workingSet);
    // Calls tell more of their results than the phases need that are on.
    const index = new HistoryIndex({ ...scopeOfPass(config), calls: true });
    for (const entry of history) index.append(entry);
    const { calls, responses, inclusions, pathCount } = index;
    this.#history = history;
    this.#config = config;
    this.#index = index;
    this.#marks = markHistory(index, config);
    this.result = materializeDensityPlan(
      planMarked(index, this.#marks),
      history,
      config.placeholder,
    );
    this.#removed = new Set(this.result.removals);
    this.#callOf = new Int32Array(responses.length).fill(NONE);
    this.#firstPath = new Int32Array(calls.length + 1);
    for (let call = 0; call < calls.length; call += 1) {
      this.#firstPath[call + 1] = (this.#firstPath[call] ?? 0) + calls.pathCount.at(call);
      const response = calls.response.at(call);
      if (response !== NONE) this.#callOf[response] = call;
    }
    this.#latestWrite = latestWrites(index, doPartialWritesSupersede(config));
    this.#newestInclusion = new Int32Array(pathCount).fill(NONE);
    for (let row = 0; row < inclusions.length; row += 1) {
      this.#newestInclusion[inclusions.path.at(row)] = row;
    }
    this.#ranks = new Int32Array(config.recencyPruning ? responses.length : 0);
    if (config.recencyPruning) {
      visitByRecency(index, this.#marks.stale.responses, (row, rank) => {
        this.#ranks[row] = rank;
      });
    }
    const { outside } = this.#marks;
    const { workingSet: rules } = config;
    this.#workingSet =
      outside && rules && new WorkingSetExplainer(index, rules, this.#marks, outside);
  }

  explain(index: number): EntryExplanation {
    const entry = this.#history[index];
    if (entry === undefined) {
      const range = this.#history.length === 0 ? 'it has none' : `0 to ${this.#history.length - 1}`;
      throw new RangeError(`The history has no entry ${String(index)}; its entries: ${range}.`);
    }
    const replacement = this.result.replacements.get(index);
    const isRemoved = this.#removed.has(index);
    const left = new Set(isRemoved ? [] : (replacement ?? entry).blocks);
    const isLeft = (block: ContentBlock): boolean => left.has(block);
    return {
      index,
      speaker: entry.speaker,
      verdict: isRemoved ? 'removed' : replacement === undefined ? 'kept' : 'changed',
      blocks: this.#explainBlocks(entry, index, isLeft),
    };
  }

  #explainBlocks(
    content: IContent,
    entry: number,
    isLeft: (block: ContentBlock) => boolean,
  ): readonly BlockExplanation[] {
    const { speaker, blocks } = content;
    const { calls, responses } = this.#index;
    let call = firstRowOf(calls.entry, entry);
    let response = firstRowOf(responses.entry, entry);
    const inclusions = speaker === 'human' ? this.#inclusionsOf(content, entry) : undefined;
    return blocks.flatMap((block, at) => {
      const say = (about: About, verdict: Verdict): BlockExplanation => {
        const text = explanationText(verdict, { ...about, ...verdict });
        return { block: at, type: block.type, ...about, ...verdict, text };
      };
      if (speaker === 'ai' && block.type === 'tool_call') {
        return say(...this.#explainCall(block, call++));
      }
      if (speaker === 'tool' && block.type === 'tool_response') {
        return block.isComplete === false
          ? say({ ...ABOUT_NOTHING, callId: block.callId, toolName: block.toolName }, kept('open'))
          : say(...this.#explainResponse(block, response++));
      }
      const rows = inclusions?.get(at);
      if (rows !== undefined) return rows.map((row) => say(...this.#explainInclusion(row)));
      return say(ABOUT_NOTHING, isLeft(block) ? kept('no-rule') : COMPANION);
    });
  }

  #explainCall(call: ToolCallBlock, row: number): [About, Verdict] {
    const { calls, responses } = this.#index;
    const response = calls.response.at(row);
    const partner = response === NONE ? null : placeOf(responses, response);
    const about = { ...this.#aboutCall(call), partner };
    if (response === NONE) return [about, kept('open')];
    if (this.#marks.stale.calls[row] === 1) return [about, this.#droppedPair(row, response)];
    return [about, this.#isJudgedRead(row) ? CURRENT : kept('no-rule')];
  }

  #explainResponse(response: ToolResponseBlock, row: number): [About, Verdict] {
    const { stale, results, outside } = this.#marks;
    const call = this.#callOf[row] ?? NONE;
    const { callId, toolName } = response;
    const partner = call === NONE ? null : placeOf(this.#index.calls, call);
    const block = partner && this.#blockAt(partner);
    const ofCall = block?.type === 'tool_call' ? this.#aboutCall(block) : ABOUT_NOTHING;
    const about = { ...ofCall, callId, toolName, partner };
    if (stale.responses[row] === 1) return [about, this.#droppedPair(call, row)];
    const verdict = RESULT_VERDICTS[results[row] ?? RESULT_MARK.none] ?? 'kept';
    const isByRecency = verdict !== 'kept' && outside?.stale[row] !== results[row];
    const facts = isByRecency ? undefined : this.#workingSet?.factsOf(row, call);
    if (facts !== undefined) {
      return [about, { ...facts, by: this.#callPlace(facts.by), verdict }];
    }
    if (verdict === 'kept' && placeholderKind(response) !== 'none') return [about, kept('gone')];
    if (this.#config.recencyPruning) return [about, { ...this.#byRecency(row), verdict }];
    if (call === NONE) return [about, kept('no-call')];
    return [about, this.#isJudgedRead(call) ? CURRENT : kept('no-rule')];
  }

  #explainInclusion({ row, path }: InclusionRow): [About, Verdict] {
    const { inclusions } = this.#index;
    const newest = this.#newestInclusion[inclusions.path.at(row)] ?? NONE;
    const about = { ...ABOUT_NOTHING, paths: [path] };
    if (this.#marks.superseded[row] !== 1) {
      return [about, { rule: 'file-dedupe', reason: 'newest', by: null, verdict: 'kept' }];
    }
    const verdict = inclusions.start.at(row) === NONE ? 'dropped' : 'cut';
    const by = placeOf(inclusions, newest);
    return [about, { rule: 'file-dedupe', reason: 'included-again', by, verdict }];
  }

  /** By block of a human entry, the inclusions that it is a part of. */
  #inclusionsOf({ blocks }: IContent, entry: number): ReadonlyMap<number, InclusionRow[]> {
    const { inclusions } = this.#index;
    const firstRow = firstRowOf(inclusions.entry, entry);
    const byBlock = new Map<number, InclusionRow[]>();
    const syntaxes = scopeOfPass(this.#config).inclusionSyntaxes;
    for (const [at, found] of findInclusions(blocks, syntaxes).entries()) {
      const row = { row: firstRow + at, path: found.path };
      const isWholeBlocks = inclusions.start.at(row.row) === NONE;
      for (const block of isWholeBlocks ? [found.block, found.block + 1] : [found.block]) {
        const known = byBlock.get(block);
        if (known === undefined) byBlock.set(block, [row]);
        else known.push(row);
      }
    }
    return byBlock;
  }

  #byRecency(row: number): DensityFinding & { readonly rule: 'recency' } {
    const rank = this.#ranks[row] ?? 0;
    const retained = resultsKept(this.#config.recencyRetention);
    return { rule: 'recency', reason: rank > retained ? 'old' : 'recent', rank, retained };
  }

  #droppedPair(call: number, response: number): Verdict {
    const isForgotten = this.#marks.results[response] === RESULT_MARK.forgotten;
    const facts = isForgotten ? this.#workingSet?.factsOf(response, call) : undefined;
    if (facts !== undefined) return { ...facts, by: null, verdict: 'dropped' };
    const { paths } = this.#index.calls;
    let latest = NONE;
    for (let at = this.#firstPath[call] ?? 0; at < (this.#firstPath[call + 1] ?? 0); at += 1) {
      latest = Math.max(latest, this.#latestWrite[paths.at(at)] ?? NONE);
    }
    const by = this.#callPlace(latest);
    return { rule: 'read-write', reason: 'written-later', by, verdict: 'dropped' };
  }

  #isJudgedRead(call: number): boolean {
    return this.#config.readWritePruning && this.#index.calls.access.at(call) === CALL_ACCESS.read;
  }

  #aboutCall(call: ToolCallBlock): About {
    const { toolCatalog: catalog = DEFAULT_TOOL_CATALOG, workingSet } = this.#config;
    const uses: readonly ToolUse[] | undefined = Object.hasOwn(catalog, call.name)
      ? catalog[call.name]
      : undefined;
    const { kind, paths }: CallUse = callUse(uses, call.parameters, workingSet !== undefined);
    const purpose = PURPOSES[kind] ?? 'unknown';
    return { callId: call.id, toolName: call.name, purpose, paths, partner: null };
  }

  #callPlace(row: number): CallPlace | null {
    if (row === NONE) return null;
    const place = placeOf(this.#index.calls, row);
    const block = this.#blockAt(place);
    if (block?.type !== 'tool_call') return null;
    return { ...place, callId: block.id, toolName: block.name };
  }

  #blockAt({ entry, block }: BlockPlace): ContentBlock | undefined {
    return this.#history[entry]?.blocks[block];
  }
}

function kept(reason: NoFinding['reason']): Verdict {
  return { rule: 'none', reason, verdict: 'kept' };
}

function placeOf(
  rows: { readonly entry: IntColumn; readonly block: IntColumn },
  row: number,
): BlockPlace {
  return { entry: rows.entry.at(row), block: rows.block.at(row) };
}

/** The first row of an ascending column of entries that belongs to this entry or a later one. */
function firstRowOf(entries: IntColumn, entry: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries.at(middle) < entry) low = middle + 1;
    else high = middle;
  }
  return low;
}

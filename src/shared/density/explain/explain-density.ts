// Explains a density pass, entry by entry, from what the rules recorded. For humans; not on the way
// to a model.

import type { ContentBlock, IContent, ToolCallBlock, ToolResponseBlock } from '../../content.js';
import type { DensityConfig, DensityResult } from '../../density.js';
import { pushTo } from '../../lists-by-key.js';
import { placeholderKind } from '../../placeholder.js';
import { usesOf } from '../../tool-catalog.js';
import { callUse } from '../index/call-use.js';
import type { CallUse } from '../index/call-use.js';
import { overUncheckedEntries } from '../../ingestion.js';
import type {
  BlockExplanation,
  DensityFinding,
  EntryExplanation,
  ExplainedBlock,
  NoFinding,
} from './explanation.js';
import type { BlockPlace, CallPlace, CallPurpose, DensityVerdict } from '../rules/finding.js';
import { isExcerpt } from '../index/excerpt.js';
import { includedPath } from '../index/file-inclusions.js';
import { CALL_KIND, NONE } from '../index/history-columns.js';
import { HistoryIndex } from '../index/history-index.js';
import type { IntColumn } from '../index/history-columns.js';
import { firstRowFrom } from '../index/stretches.js';
import { materializeDensityPlan } from '../plan/materialize.js';
import { assertPass, markHistory, planMarked, scopeOfPass, withTexts } from '../plan/optimize.js';
import type { Judgement, RowPlaces } from '../rules/density-rule.js';
import { DENSITY_RULES } from '../rules/density-rules.js';
import type { RuleFinding } from '../rules/density-rules.js';
import type { MarkedHistory } from '../plan/optimize.js';
import { ACTION, actionOf, ruleOf } from '../rules/marks.js';

/** The explanation of one density pass. */
export interface DensityExplanation {
  /** What `optimize` returns. */
  readonly result: DensityResult;
  /**
   * Tells which rule keeps or removes the blocks of an entry, and why. Takes time in proportion to
   * the entry.
   *
   * @throws RangeError when the history has no entry at this index.
   */
  readonly explain: (index: number) => EntryExplanation;
}

/**
 * Explains what `optimize` does with a history by running the same rules. Takes about as long as
 * `optimize`. The history must not change while the explanation is in use.
 *
 * @throws as `optimize` does.
 */
export function explainDensity(
  history: readonly IContent[],
  config: DensityConfig,
): DensityExplanation {
  assertPass(config);
  const explainer = overUncheckedEntries(
    'the history',
    history,
    () => new Explainer(history, config),
  );
  return {
    result: explainer.result,
    explain: (index) => explainer.explain(index),
  };
}

/** The part of an explanation that the rules decide; `About` is what the block itself tells. */
type Verdict = DensityFinding & Pick<ExplainedBlock, 'verdict'>;
type About = Omit<ExplainedBlock, 'block' | 'type' | 'verdict' | 'text'>;

const ABOUT_NOTHING: About = {
  callId: null,
  toolName: null,
  purpose: null,
  paths: [],
  partner: null,
};

const COMPANION: Verdict = { rule: 'none', reason: 'companion', verdict: 'dropped' };

const VERDICTS: Readonly<Record<number, DensityVerdict>> = {
  [ACTION.drop]: 'dropped',
  [ACTION.companion]: 'dropped',
  [ACTION.pointer]: 'placeholder',
  [ACTION.excerpt]: 'excerpt',
  [ACTION.cut]: 'cut',
  [ACTION.shorten]: 'shortened',
  [ACTION.shrink]: 'shrunk',
};

const NO_FINDINGS: Readonly<Record<NoFinding['reason'], string>> = {
  'no-rule': 'No rule removes it.',
  open: 'The call has no result yet.',
  'no-call': 'It answers no known call.',
  gone: 'It is a placeholder already.',
  companion: 'It is removed with the block that it belongs to.',
};

/** By number of the kind. */
const PURPOSES: readonly CallPurpose[] = Object.keys(CALL_KIND) as (keyof typeof CALL_KIND)[];

class Explainer {
  readonly result: DensityResult;
  readonly #history: readonly IContent[];
  readonly #config: DensityConfig;
  readonly #index: HistoryIndex;
  readonly #marked: MarkedHistory;
  readonly #removed: ReadonlySet<number>;
  readonly #places: RowPlaces;

  constructor(history: readonly IContent[], config: DensityConfig) {
    const index = new HistoryIndex(scopeOfPass(config));
    index.extend(history);
    const { calls, inclusions } = index;
    this.#history = history;
    this.#config = config;
    this.#index = index;
    this.#marked = markHistory(index, config);
    const { plan, texts } = withTexts(planMarked(index, this.#marked.marks), index);
    this.result = materializeDensityPlan(plan, history, config, texts);
    this.#removed = new Set(this.result.removals);
    this.#places = {
      callAt: (row) => this.#callPlace(placeOf(calls, row)),
      inclusionAt: (row) => placeOf(inclusions, row),
    };
  }

  explain(index: number): EntryExplanation {
    const entry = typeof index === 'number' ? this.#history[index] : undefined;
    if (entry === undefined) {
      const { length } = this.#history;
      const range = length === 0 ? 'it is empty' : `its entries are 0 to ${length - 1}`;
      throw new RangeError(
        `The history has no entry ${typeof index === 'number' ? index : `that is a ${typeof index}`}; ${range}.`,
      );
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
    { speaker, blocks }: IContent,
    entry: number,
    isLeft: (block: ContentBlock) => boolean,
  ): readonly BlockExplanation[] {
    const { calls, responses } = this.#index;
    let call = firstRowFrom(calls.entry, entry);
    let response = firstRowFrom(responses.entry, entry);
    const inclusions = this.#inclusionsOf(entry);
    return blocks.flatMap((block, at) => {
      const say = (about: About, verdict: Verdict): BlockExplanation => {
        return { block: at, type: block.type, ...about, ...verdict, text: textOf(verdict, about) };
      };
      if (speaker === 'ai' && block.type === 'tool_call') {
        return say(...this.#explainCall(block, call++));
      }
      if (speaker === 'tool' && block.type === 'tool_response') {
        return block.isComplete === false
          ? say({ ...ABOUT_NOTHING, callId: block.callId, toolName: block.toolName }, kept('open'))
          : say(...this.#explainResponse(block, response++));
      }
      const rows = inclusions.get(at);
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
    const mark = this.#marked.marks.calls[row] ?? 0;
    const ask = ({ ofCall, ofResponse }: Judgement<RuleFinding>): RuleFinding | undefined =>
      mark === 0 || ofCall !== undefined
        ? ofCall?.(row, this.#places)
        : ofResponse?.(response, row, this.#places);
    return [about, this.#verdict(mark, ask) ?? kept('no-rule')];
  }

  #explainResponse(response: ToolResponseBlock, row: number): [About, Verdict] {
    const call = this.#index.responses.call.at(row);
    const { callId, toolName } = response;
    const partner = call === NONE ? null : placeOf(this.#index.calls, call);
    const block = partner && this.#blockAt(partner);
    const ofCall = block?.type === 'tool_call' ? this.#aboutCall(block) : ABOUT_NOTHING;
    const about = { ...ofCall, callId, toolName, partner };
    const mark = this.#marked.marks.responses[row] ?? 0;
    if (mark === 0 && (placeholderKind(response) !== 'none' || isExcerpt(response.result)))
      return [about, kept('gone')];
    const verdict = this.#verdict(mark, ({ ofResponse }) => ofResponse?.(row, call, this.#places));
    return [about, verdict ?? kept(call === NONE ? 'no-call' : 'no-rule')];
  }

  #explainInclusion(row: number): [About, Verdict] {
    const { inclusions } = this.#index;
    const block = this.#blockAt(placeOf(inclusions, row));
    const path = block && includedPath(block, inclusions.start.at(row));
    const mark = this.#marked.marks.inclusions[row] ?? 0;
    const verdict = this.#verdict(mark, ({ ofInclusion }) => ofInclusion?.(row, this.#places));
    return [{ ...ABOUT_NOTHING, paths: path ? [path] : [] }, verdict ?? kept('no-rule')];
  }

  /** The finding of the rule that marked the row; if unmarked, of the last rule with an opinion. */
  #verdict(
    mark: number,
    ask: (judgement: Judgement<RuleFinding>) => RuleFinding | undefined,
  ): Verdict | undefined {
    const { judgements } = this.#marked;
    const asked = mark === 0 ? judgements.toReversed() : [judgements[ruleOf(mark)]];
    for (const judgement of asked) {
      const finding = judgement && ask(judgement);
      if (finding !== undefined) return { ...finding, verdict: VERDICTS[actionOf(mark)] ?? 'kept' };
    }
    return undefined;
  }

  /** By block of an entry, the inclusions it belongs to. */
  #inclusionsOf(entry: number): ReadonlyMap<number, readonly number[]> {
    const { inclusions } = this.#index;
    const rows = new Map<number, number[]>();
    for (
      let row = firstRowFrom(inclusions.entry, entry);
      row < inclusions.length && inclusions.entry.at(row) === entry;
      row += 1
    ) {
      const block = inclusions.block.at(row);
      pushTo(rows, block, row);
      if (inclusions.start.at(row) === NONE) pushTo(rows, block + 1, row);
    }
    return rows;
  }

  #aboutCall(call: ToolCallBlock): About {
    const { toolCatalog, workingSet } = this.#config;
    const isRead = workingSet !== undefined;
    const { kind, paths }: CallUse = callUse((tool) => usesOf(toolCatalog, tool), call, isRead);
    const purpose = PURPOSES[kind] ?? 'unknown';
    return { callId: call.id, toolName: call.name, purpose, paths, partner: null };
  }

  #callPlace(place: BlockPlace): CallPlace | null {
    const block = this.#blockAt(place);
    if (block?.type !== 'tool_call') return null;
    return { ...place, callId: block.id, toolName: block.name };
  }

  #blockAt({ entry, block }: BlockPlace): ContentBlock | undefined {
    return this.#history[entry]?.blocks[block];
  }
}

function textOf(verdict: Verdict, { toolName, purpose }: About): string {
  if (verdict.rule === 'none') return NO_FINDINGS[verdict.reason];
  const about = { verdict: verdict.verdict, toolName, purpose };
  return DENSITY_RULES.find(({ name }) => name === verdict.rule)?.say(verdict, about) ?? '';
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

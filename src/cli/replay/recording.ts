// Evaluates the steps of a recorder: the composition of the history at each turn, the effect of every edit, the lifetime of
// each result, and the requests. Reports depend only on the result.

import type { DensityConfig } from '../../density.js';
import type { IContent, Session, ToolCatalog, ToolCallBlock } from '../../index.js';
import type { Attribution } from '../measure/attribution.js';
import { namePaths, subjectOfCall } from '../measure/call-subject.js';
import type { Subject } from '../measure/call-subject.js';
import { CATEGORIES, sharesOf } from '../measure/composition.js';
import type { BlockShare, Category } from '../measure/composition.js';
import { addTo, largestFirst } from '../measure/aggregate.js';
import type { ReplayReport } from './replay-report.js';
import { attributeSteps, entriesOf } from './attributed-steps.js';
import type { AttributedStep, LandedExplanation, RecordedContext } from './attributed-steps.js';
import { combinedRows } from './edit-row.js';
import type { EditRow } from './edit-row.js';
import { requestsOf } from './money.js';
import type { RecordedRequest } from './money.js';
import { ResultLives } from './result-lives.js';
import type { ResultLife } from './result-lives.js';
import { modelOfEntry } from './session-player.js';
import type { EditCause, SessionRecorder } from './session-recorder.js';

/** The recording of a session. */
export interface Recorded {
  /** Tokens by category after the edits of each turn, in the order of `CATEGORIES`. */
  readonly turns: readonly (readonly number[])[];
  /** The effects of each edit, by rule, with a call and its response in one row. */
  readonly rows: readonly EditRow[];
  /** All tool names and call ids, for which reports check whether redaction hides any. */
  readonly names: ReadonlySet<string>;
  /** The subjects of all calls, by call id. */
  readonly subjects: ReadonlyMap<string, Subject>;
  readonly lives: readonly ResultLife[];
  /** The requests, one per model call. */
  readonly requests: readonly RecordedRequest[];
  /** Id of the model with the most answers. */
  readonly model: string | null;
  /** The contexts of the agent, in order. */
  readonly contexts: readonly [RecordedContext, ...RecordedContext[]];
  /** The newest edit of each entry, by index in the transcript. */
  readonly landed: ReadonlyMap<number, LandedExplanation>;
  /** Configuration of the last pass. */
  readonly density: DensityConfig;
  /** Returns the tokens of an entry of the transcript, or of the history at the end of a context. */
  readonly tokensOf: (entry: IContent) => number;
}

/** The recording of a session with its report. */
export interface Recording extends Recorded {
  readonly report: ReplayReport;
}

/**
 * Evaluates what was recorded of a session.
 *
 * @param explains whether rows say why their edits were made, which takes a density pass per edit of what was sent
 * @throws errors of counting, or the signal's reason.
 */
export async function recordingOf(
  { steps: taken, preflights }: SessionRecorder,
  { densityConfig: density, history }: Session,
  explains: boolean,
  signal?: AbortSignal,
): Promise<Recorded> {
  const { steps, contexts, landed } = await attributeSteps(taken, explains, signal);
  const entries = Array.from(new Set(steps.flatMap(entriesOf)));
  const counts = await history.countEach(entries);
  const tokens = new Map(entries.map((entry, at) => [entry, counts[at] ?? 0]));
  const tokensOf = (entry: IContent): number => tokens.get(entry) ?? 0;
  const walk = new RecordingWalk(density.toolCatalog ?? {}, tokensOf);
  for (const step of steps) walk.take(step);
  const added = contexts.flatMap((context) => context.added);
  return {
    ...walk.result(),
    requests: requestsOf(preflights, added),
    model: modelOf(added),
    ...{ contexts, landed, density, tokensOf },
  };
}

/** Accumulates the figures of all steps, in order. */
class RecordingWalk {
  readonly #tokensOf: (entry: IContent) => number;
  readonly #catalog: ToolCatalog;
  /** Tokens of the history by category. */
  readonly #present = new Map<Category, number>();
  readonly #subjects = new Map<string, Subject>();
  readonly #lives = new ResultLives();
  readonly #turns: (readonly number[])[] = [];
  readonly #parts: EditRow[] = [];
  readonly #names = new Set<string>();

  constructor(catalog: ToolCatalog, tokensOf: (entry: IContent) => number) {
    this.#catalog = catalog;
    this.#tokensOf = tokensOf;
  }

  take(step: AttributedStep): void {
    if (step.kind === 'entry') this.#takeEntry(step.entry);
    else if (step.kind === 'preflight') {
      this.#turns.push(CATEGORIES.map((category) => this.#present.get(category) ?? 0));
    } else if (step.kind === 'context') {
      for (const entry of step.ended.remaining) this.#count(entry, -1);
      this.#lives.endContext(this.#turns.length);
    } else {
      for (const entry of step.removed) this.#count(entry, -1);
      for (const entry of step.added) this.#count(entry, 1);
      for (const attribution of step.attributions) this.#takeEdit(step.cause, attribution);
    }
  }

  /** Counts an entry that was added, or that is gone. */
  #count(entry: IContent, sign: 1 | -1): readonly BlockShare[] {
    const shares = sharesOf(entry, this.#tokensOf(entry));
    for (const { category, tokens } of shares) addTo(this.#present, category, sign * tokens);
    return shares;
  }

  #takeEntry(entry: IContent): void {
    for (const { block, tokens: part } of this.#count(entry, 1)) {
      if (block?.type === 'tool_call') this.#takeCall(block);
      if (block?.type !== 'tool_response') continue;
      this.#names.add(block.toolName).add(block.callId);
      const subject = this.#subjects.get(block.callId) ?? null;
      this.#lives.begin(block, subject, this.#turns.length, part);
    }
  }

  #takeCall(call: ToolCallBlock): void {
    const subject = subjectOfCall(call, this.#catalog);
    this.#names.add(call.name).add(call.id);
    this.#subjects.set(call.id, subject);
    this.#lives.use(call.name, subject, this.#turns.length - 1);
  }

  #takeEdit(cause: EditCause, attribution: Attribution): void {
    const { rule, why, callId, toolName: tool, includedPaths, items, before, after } = attribution;
    const tokensOf = (entry: IContent | null): number =>
      entry === null ? 0 : this.#tokensOf(entry);
    // If no block of this part is left but its entry stays, the per-entry overhead was not reclaimed: exclude it from both counts.
    const frame = after?.blocks.length === 0 ? tokensOf(after) : 0;
    this.#lives.edit(attribution, this.#turns.length);
    this.#parts.push({
      turn: this.#turns.length,
      ...{ cause, rule, why, callId, tool, items },
      speaker: (before ?? after)?.speaker ?? 'human',
      subject: this.#subjects.get(callId ?? '') ?? subjectOfPaths(includedPaths),
      tokensBefore: tokensOf(before) - frame,
      tokensAfter: tokensOf(after) - frame,
      before: before === null ? [] : [before],
    });
  }

  result() {
    return {
      turns: this.#turns,
      rows: combinedRows(this.#parts),
      names: this.#names,
      subjects: this.#subjects,
      lives: this.#lives.all,
    };
  }
}

function subjectOfPaths(paths: readonly string[]): Subject | null {
  const path = namePaths(paths);
  return path === null ? null : { path, excerpt: null };
}

function modelOf(entries: readonly IContent[]): string | null {
  const answers = new Map<string, number>();
  for (const entry of entries) {
    const model = modelOfEntry(entry);
    if (model !== undefined) addTo(answers, model, 1);
  }
  const [most] = largestFirst(Array.from(answers), ([, count]) => count);
  return most?.[0] ?? null;
}

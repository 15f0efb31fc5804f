// What a recorder took down, worked out: what the history consisted of at each turn, what every edit did, how long each
// result lived, and what the requests came to. Both renderers read this value, and neither looks at a session.

import { explainDensity } from '../../../density.js';
import type { DensityConfig, EntryExplanation } from '../../../density.js';
import type { IContent, ToolCatalog, ToolCallBlock } from '../../../index.js';
import type { Attribution } from '../measure/attribution.js';
import { subjectOfCall } from '../measure/call-subject.js';
import type { CallSubject } from '../measure/call-subject.js';
import { CATEGORIES, categoryOf, Composition, tokensByBlock } from '../measure/composition.js';
import type { Category, ToolShare } from '../measure/composition.js';
import type { ReplayReport } from './replay-report.js';
import { attributeSteps, entriesOf, placedIn } from './attributed-steps.js';
import type { AttributedStep, LandedExplanation, RecordedContext } from './attributed-steps.js';
import { rowsOf } from './edit-row.js';
import type { EditRow } from './edit-row.js';
import { requestsOf } from './money.js';
import type { RecordedRequest } from './money.js';
import { ResultLives } from './result-lives.js';
import type { ResultLife } from './result-lives.js';
import { modelOfEntry } from './session-player.js';
import type { EditCause, SessionRecorder } from './session-recorder.js';

/** A part of an edit, with what it weighs. */
export interface RecordedEdit {
  /** Index of the turn: model calls in their order, then the window after the last one. */
  readonly turn: number;
  readonly cause: EditCause;
  readonly attribution: Attribution;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** What the call concerned is about, as far as it is known. */
  readonly subject: CallSubject | null;
}

/** What something in a history takes of the window. */
export interface WindowShare {
  readonly category: Category;
  readonly tool: string | null;
  readonly subject: CallSubject | null;
  readonly tokens: number;
}

/** What was recorded of a session. */
export interface Recorded {
  /** Tokens by category after the edits of each turn, in the order of `CATEGORIES`. */
  readonly turns: readonly (readonly number[])[];
  readonly edits: readonly RecordedEdit[];
  /** The edits, by call. */
  readonly rows: readonly EditRow[];
  /** All names of tools and ids of calls. */
  readonly names: ReadonlySet<string>;
  /** What each tool came to over the whole session, had nothing been taken away. */
  readonly toolsWithout: ReadonlyMap<string, ToolShare>;
  /** What each tool comes to in the history at the end. */
  readonly toolsAtEnd: ReadonlyMap<string, ToolShare>;
  /** What fills the window: of everything that was said, and of what is left of it at the end. */
  readonly shares: Readonly<Record<'without' | 'with', readonly WindowShare[]>>;
  readonly lives: readonly ResultLife[];
  /** The request of each model call. */
  readonly requests: readonly RecordedRequest[];
  /** The model that answered most often, by its id. */
  readonly model: string | null;
  /** The contexts of the agent, in their order. */
  readonly contexts: readonly [RecordedContext, ...RecordedContext[]];
  /** By index in the transcript, the newest edit of the entry. */
  readonly landed: ReadonlyMap<number, LandedExplanation>;
  /** By what passes went in the end. */
  readonly density: DensityConfig;
  /** Tokens of an entry, of the transcript or in a context as it was left. */
  readonly tokensOf: (entry: IContent) => number;
}

/** A session that was played: the figures that `--json` prints, and what only pages show. */
export interface Recording extends Recorded {
  readonly report: ReplayReport;
}

/** What a recording is worked out with. */
export interface RecordingOptions {
  /** By what passes are made. */
  readonly density: DensityConfig;
  /** Whether edits say why: that takes as long as a pass for each of them. */
  readonly explains: boolean;
  /** Counts the tokens of entries. */
  readonly countEach: (entries: readonly IContent[]) => Promise<readonly number[]>;
}

/** Works out what was recorded. @throws what counting throws. */
export async function recordingOf(
  { steps: taken, windows }: SessionRecorder,
  { density, explains, countEach }: RecordingOptions,
): Promise<Recorded> {
  const { steps, contexts, landed } = attributeSteps(taken, explains ? density : undefined);
  const entries = Array.from(new Set(steps.flatMap(entriesOf)));
  const counts = await countEach(entries);
  const tokens = new Map(entries.map((entry, at) => [entry, counts[at] ?? 0]));
  const tokensOf = (entry: IContent): number => tokens.get(entry) ?? 0;
  const walk = new RecordingWalk(density.toolCatalog ?? {}, tokensOf);
  for (const step of steps) walk.take(step);
  const last = contexts.at(-1) ?? contexts[0];
  return {
    ...walk.result(),
    shares: { without: walk.sharesOf(last.said), with: walk.sharesOf(last.left) },
    requests: requestsOf(windows, walk.added),
    model: modelOf(walk.added),
    ...{ contexts, landed, density, tokensOf },
  };
}

/** Returns why the entries that are left of a context stay, or would go; places are those of the transcript. */
export function explainLeft(
  { left, origins }: RecordedContext,
  density: DensityConfig,
): (index: number) => EntryExplanation {
  const { explain } = explainDensity(left, density);
  return (index) => placedIn(explain(index), origins);
}

/** Goes through the steps once, and adds up. */
class RecordingWalk {
  readonly added: IContent[] = [];
  readonly #tokensOf: (entry: IContent) => number;
  readonly #catalog: ToolCatalog;
  readonly #everything = new Composition();
  readonly #present = new Composition();
  readonly #subjects = new Map<string, CallSubject>();
  readonly #lives = new ResultLives();
  readonly #turns: (readonly number[])[] = [];
  readonly #edits: RecordedEdit[] = [];
  readonly #names = new Set<string>();

  constructor(catalog: ToolCatalog, tokensOf: (entry: IContent) => number) {
    this.#catalog = catalog;
    this.#tokensOf = tokensOf;
  }

  take(step: AttributedStep): void {
    if (step.kind === 'entry') this.#takeEntry(step.entry);
    else if (step.kind === 'window') {
      const { byCategory } = this.#present;
      this.#turns.push(CATEGORIES.map((category) => byCategory.get(category) ?? 0));
    } else if (step.kind === 'context') {
      for (const entry of step.ended.left) this.#present.remove(entry);
    } else {
      for (const entry of step.removed) this.#change(entry, -1);
      for (const entry of step.added) this.#change(entry, 1);
      for (const attribution of step.attributions) this.#takeEdit(step.cause, attribution);
    }
  }

  #change(entry: IContent, by: 1 | -1): void {
    if (by === 1) this.#present.add(entry, this.#tokensOf(entry));
    else this.#present.remove(entry);
  }

  #takeEntry(entry: IContent): void {
    const tokens = this.#tokensOf(entry);
    this.added.push(entry);
    this.#everything.add(entry, tokens);
    this.#change(entry, 1);
    const parts = tokensByBlock(entry, tokens);
    entry.blocks.forEach((block, at) => {
      if (block.type === 'tool_call') this.#takeCall(block);
      if (block.type !== 'tool_response') return;
      this.#names.add(block.toolName).add(block.callId);
      const subject = this.#subjects.get(block.callId) ?? null;
      this.#lives.begin(block, subject, this.#turns.length, parts[at] ?? 0);
    });
  }

  #takeCall(call: ToolCallBlock): void {
    const subject = subjectOfCall(call, this.#catalog);
    this.#names.add(call.name).add(call.id);
    this.#subjects.set(call.id, subject);
    this.#lives.use(call.name, subject, this.#turns.length - 1);
  }

  #takeEdit(cause: EditCause, attribution: Attribution): void {
    const { before, after, callId } = attribution;
    const tokensOf = (entry: IContent | null): number =>
      entry === null ? 0 : this.#tokensOf(entry);
    // What frames an entry that holds nothing any more belongs to what is left of the whole entry.
    const frame = after?.blocks.length === 0 ? tokensOf(after) : 0;
    this.#lives.edit(attribution, this.#turns.length);
    this.#edits.push({
      turn: this.#turns.length,
      cause,
      attribution,
      tokensBefore: tokensOf(before) - frame,
      tokensAfter: tokensOf(after) - frame,
      subject: this.#subjects.get(callId ?? '') ?? null,
    });
  }

  result(): Pick<
    Recorded,
    'turns' | 'edits' | 'rows' | 'names' | 'toolsWithout' | 'toolsAtEnd' | 'lives'
  > {
    return {
      turns: this.#turns,
      edits: this.#edits,
      rows: rowsOf(this.#edits),
      names: this.#names,
      toolsWithout: this.#everything.byTool,
      toolsAtEnd: this.#present.byTool,
      lives: this.#lives.all,
    };
  }

  /** What each block of these entries takes of the window. */
  sharesOf(entries: readonly IContent[]): readonly WindowShare[] {
    return entries.flatMap((entry) => {
      const parts = tokensByBlock(entry, this.#tokensOf(entry));
      return entry.blocks.map((block, at): WindowShare => {
        const category = categoryOf(block, entry);
        const tokens = parts[at] ?? 0;
        if (block.type === 'tool_call') {
          const subject = this.#subjects.get(block.id) ?? null;
          return { category, tokens, tool: block.name, subject };
        }
        if (block.type !== 'tool_response') return { category, tokens, tool: null, subject: null };
        const subject = this.#subjects.get(block.callId) ?? null;
        return { category, tokens, tool: block.toolName, subject };
      });
    });
  }
}

function modelOf(entries: readonly IContent[]): string | null {
  const answers = new Map<string, number>();
  for (const entry of entries) {
    const model = modelOfEntry(entry);
    if (model === undefined) continue;
    answers.set(model, (answers.get(model) ?? 0) + 1);
  }
  return Array.from(answers).sort(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

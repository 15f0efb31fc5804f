// What a recorder took down, worked out: what the history consisted of at each turn, what every edit did, how long each
// result lived, and what the requests came to. Both renderers read this value, and neither looks at a session.

import { explainDensity } from '../../../density.js';
import type { IContent, ToolCatalog, ToolCallBlock } from '../../../index.js';
import type { DensityConfig } from '../../../density.js';
import { attributeCompression, attributePass } from '../measure/attribution.js';
import type { Attribution } from '../measure/attribution.js';
import { subjectOfCall } from '../measure/call-subject.js';
import type { CallSubject } from '../measure/call-subject.js';
import { CATEGORIES, categoryOf, Composition, tokensByBlock } from '../measure/composition.js';
import type { Category, ToolShare } from '../measure/composition.js';
import type { ReplayReport } from './replay-report.js';
import { rowsOf } from './edit-row.js';
import type { EditRow } from './edit-row.js';
import { requestsOf } from './recorded-requests.js';
import type { RecordedRequest } from './recorded-requests.js';
import { ResultLives } from './result-lives.js';
import type { ResultLife } from './result-lives.js';
import type { EditCause, RecordedStep, SessionRecorder } from './session-recorder.js';

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
}

/** A session that was played: the figures that `--json` prints, and what only pages show. */
export interface Recording extends Recorded {
  readonly report: ReplayReport;
}

/** What a recording is worked out with. */
export interface RecordingOptions {
  readonly catalog: ToolCatalog;
  /** By what the passes were made. Where it is given, edits say why: that takes as long as a pass for each of them. */
  readonly density?: DensityConfig | undefined;
  /** Counts the tokens of entries. */
  readonly countEach: (entries: readonly IContent[]) => Promise<readonly number[]>;
}

/** Works out what was recorded. @throws what counting throws. */
export async function recordingOf(
  { steps: taken, windows }: SessionRecorder,
  { catalog, density, countEach }: RecordingOptions,
): Promise<Recorded> {
  const steps = attribute(taken, density);
  const entries = Array.from(new Set(steps.flatMap(entriesOf)));
  const counts = await countEach(entries);
  const tokens = new Map(entries.map((entry, at) => [entry, counts[at] ?? 0]));
  const walk = new RecordingWalk(catalog, (entry) => tokens.get(entry) ?? 0);
  for (const step of steps) walk.take(step);
  return {
    ...walk.result(),
    requests: requestsOf(windows, walk.added),
    model: modelOf(walk.added),
  };
}

/** A step, an edit taken apart. */
type AttributedStep =
  | Extract<RecordedStep, { kind: 'entry' | 'window' | 'context' }>
  | {
      readonly kind: 'edit';
      readonly cause: EditCause;
      readonly attributions: readonly Attribution[];
      readonly removed: readonly IContent[];
      readonly added: readonly IContent[];
    };

function attribute(
  steps: readonly RecordedStep[],
  density: DensityConfig | undefined,
): readonly AttributedStep[] {
  /** Entries that compressions put in. */
  const putIn = new Set<IContent>();
  let known: IContent[] = [];
  return steps.map((step): AttributedStep => {
    if (step.kind === 'entry') known.push(step.entry);
    if (step.kind === 'context') known = [];
    if (step.kind === 'entry' || step.kind === 'window' || step.kind === 'context') return step;
    const before = known;
    const { cause } = step;
    if (step.kind === 'pass') {
      const { changes, edits } = step.pass;
      const attributions = attributePass(
        changes,
        edits,
        density && explainDensity(before, density).explain,
      );
      const byIndex = new Map(changes.map(({ index, after }) => [index, after]));
      known = before.flatMap((entry, index) => {
        const after = byIndex.get(index);
        return after === undefined ? entry : (after ?? []);
      });
      const added = changes.flatMap(({ after }) => after ?? []);
      const removed = changes.map(({ index, before: entry }) => before[index] ?? entry);
      return { kind: 'edit', cause, attributions, removed, added };
    }
    known = [...step.after];
    const isByModel = cause.step === 'compressed' && cause.isByModel;
    const attributions = attributeCompression(before, known, {
      isByModel,
      putIn: new Set(putIn),
    });
    for (const each of attributions) {
      if (each.before === null && each.after !== null) putIn.add(each.after);
    }
    const removed = without(before, known);
    return { kind: 'edit', cause, attributions, removed, added: without(known, before) };
  });
}

/** What is in one list and not in the other; an object that stands twice counts twice. */
function without(entries: readonly IContent[], others: readonly IContent[]): readonly IContent[] {
  const left = new Map<IContent, number>();
  for (const entry of others) left.set(entry, (left.get(entry) ?? 0) + 1);
  return entries.filter((entry) => {
    const count = left.get(entry) ?? 0;
    left.set(entry, count - 1);
    return count <= 0;
  });
}

function entriesOf(step: AttributedStep): readonly IContent[] {
  if (step.kind === 'entry') return [step.entry];
  if (step.kind === 'window' || step.kind === 'context') return [];
  return [
    ...step.added,
    ...step.attributions.flatMap(({ before, after }) =>
      [before, after].filter((entry) => entry !== null),
    ),
  ];
}

/** Goes through the steps once, and adds up. */
class RecordingWalk {
  readonly added: IContent[] = [];
  readonly #tokensOf: (entry: IContent) => number;
  readonly #catalog: ToolCatalog;
  readonly #everything = new Composition();
  readonly #present = new Composition();
  /** What was added since the context began. */
  #said: IContent[] = [];
  /** What is in the history, as often as it is. */
  readonly #left = new Map<IContent, number>();
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
    } else if (step.kind === 'context') this.#beginContext();
    else {
      for (const entry of step.removed) this.#change(entry, -1);
      for (const entry of step.added) this.#change(entry, 1);
      for (const attribution of step.attributions) this.#takeEdit(step.cause, attribution);
    }
  }

  #beginContext(): void {
    for (const [entry, count] of this.#left) {
      for (let at = 0; at < count; at += 1) this.#present.remove(entry);
    }
    this.#left.clear();
    this.#said = [];
  }

  #change(entry: IContent, by: 1 | -1): void {
    if (by === 1) this.#present.add(entry, this.#tokensOf(entry));
    else this.#present.remove(entry);
    this.#left.set(entry, (this.#left.get(entry) ?? 0) + by);
  }

  #takeEntry(entry: IContent): void {
    const tokens = this.#tokensOf(entry);
    this.added.push(entry);
    this.#said.push(entry);
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

  result(): Omit<Recorded, 'requests' | 'model'> {
    const present = Array.from(this.#left).flatMap(([entry, count]) =>
      Array.from({ length: count }, () => entry),
    );
    return {
      turns: this.#turns,
      edits: this.#edits,
      rows: rowsOf(this.#edits),
      names: this.#names,
      toolsWithout: this.#everything.byTool,
      toolsAtEnd: this.#present.byTool,
      shares: { without: this.#sharesOf(this.#said), with: this.#sharesOf(present) },
      lives: this.#lives.all,
    };
  }

  #sharesOf(entries: readonly IContent[]): readonly WindowShare[] {
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
  for (const { metadata } of entries) {
    const model = metadata?.['model'];
    // What an agent says in a model's place, as of an error, is `<synthetic>`.
    if (typeof model !== 'string' || model.startsWith('<')) continue;
    answers.set(model, (answers.get(model) ?? 0) + 1);
  }
  return Array.from(answers).sort(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

// Looks on while a session is played, and works out afterwards what its history consisted of at each
// turn and what every edit did. While it looks on it takes references and nothing else.

import { explainDensity } from '../../../density.js';
import type {
  CompressionStrategyName,
  IContent,
  LandingReason,
  PrunedEvent,
  ToolCatalog,
  Session,
} from '../../../index.js';
import { attributeCompression, attributePass } from '../measure/attribution.js';
import type { Attribution } from '../measure/attribution.js';
import { CATEGORIES, Composition } from '../measure/composition.js';
import type { Category, ToolShare } from '../measure/composition.js';
import { subjectOfCall } from '../measure/call-subject.js';
import type { CallSubject } from '../measure/call-subject.js';
import type { ReplayObserver } from '../replay/replay-session.js';
import type { DensityConfig } from '../../../density.js';

/** Why an edit was made. */
export type EditCause =
  | { readonly step: 'pruned'; readonly reason: LandingReason }
  | {
      readonly step: 'compressed';
      readonly strategy: CompressionStrategyName;
      readonly isByModel: boolean;
    }
  | { readonly step: 'fitted' };

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

/** What was recorded of a session. */
export interface Recording {
  /** Tokens by category after the edits of each turn, in the order of `CATEGORIES`. */
  readonly turns: readonly (readonly number[])[];
  readonly edits: readonly RecordedEdit[];
  /** All names of tools and ids of calls. */
  readonly names: ReadonlySet<string>;
  /** What each tool came to over the whole session, had nothing been taken away. */
  readonly toolsWithout: ReadonlyMap<string, ToolShare>;
  /** What each tool comes to in the history at the end. */
  readonly toolsAtEnd: ReadonlyMap<string, ToolShare>;
}

interface Edit {
  readonly cause: EditCause;
  /** What a pruning pass changed, and by which rules; compressions tell by the whole history. */
  readonly pass: Pick<PrunedEvent, 'changes' | 'edits'> | null;
  /** The whole history after it. */
  readonly after: readonly IContent[];
}

type Line = IContent | Edit;

/** An edit, taken apart. */
interface EditStep {
  readonly cause: EditCause;
  readonly attributions: readonly Attribution[];
  readonly removed: readonly IContent[];
  readonly added: readonly IContent[];
}

const NO_RECORDING: Recording = {
  turns: [],
  edits: [],
  names: new Set(),
  toolsWithout: new Map(),
  toolsAtEnd: new Map(),
};

/** Records one session. */
export class SessionRecorder implements ReplayObserver {
  readonly #catalog: ToolCatalog;
  readonly #lines: Line[] = [];
  #density: DensityConfig | undefined;
  #recording = NO_RECORDING;

  constructor(catalog: ToolCatalog) {
    this.#catalog = catalog;
  }

  /** What was recorded; empty before `settle` has resolved. */
  get recording(): Recording {
    return this.#recording;
  }

  readonly begin = (session: Session, density: DensityConfig): void => {
    this.#density = density;
    const note = (cause: EditCause, pass: Edit['pass']): void => {
      this.#lines.push({ cause, pass, after: session.history.getAll() });
    };
    session.on('pruned', ({ changes, edits, reason }) => {
      note({ step: 'pruned', reason }, { changes, edits });
    });
    session.on('compressed', ({ outcome, strategy, llmCallMade }) => {
      if (outcome !== 'applied') return;
      note({ step: 'compressed', strategy, isByModel: llmCallMade }, null);
    });
    session.on('fitted', () => {
      note({ step: 'fitted' }, null);
    });
  };

  readonly noteEntry = (entry: IContent): void => {
    this.#lines.push(entry);
  };

  readonly settle = async ({ history }: Session): Promise<void> => {
    const steps = takeApart(this.#lines, this.#density);
    const entries = Array.from(new Set(steps.flatMap(entriesOf)));
    const counts = await history.countEach(entries);
    const tokens = new Map(entries.map((entry, at) => [entry, counts[at] ?? 0]));
    this.#recording = this.#replay(steps, (entry) =>
      entry === null ? 0 : (tokens.get(entry) ?? 0),
    );
  };

  #replay(
    steps: readonly (IContent | EditStep)[],
    tokensOf: (entry: IContent | null) => number,
  ): Recording {
    const everything = new Composition();
    const present = new Composition();
    const subjects = new Map<string, CallSubject>();
    const turns: (readonly number[])[] = [];
    const edits: RecordedEdit[] = [];
    const names = new Set<string>();
    const closeTurn = (): void => {
      turns.push(CATEGORIES.map((category: Category) => present.byCategory.get(category) ?? 0));
    };
    for (const step of steps) {
      if (isEntry(step)) {
        if (step.speaker === 'ai') closeTurn();
        everything.add(step, tokensOf(step));
        present.add(step, tokensOf(step));
        for (const block of step.blocks) {
          if (block.type === 'tool_response') names.add(block.toolName).add(block.callId);
          if (block.type !== 'tool_call') continue;
          names.add(block.name).add(block.id);
          subjects.set(block.id, subjectOfCall(block, this.#catalog));
        }
        continue;
      }
      for (const entry of step.removed) present.remove(entry);
      for (const entry of step.added) present.add(entry, tokensOf(entry));
      for (const attribution of step.attributions) {
        const { before, after } = attribution;
        // What frames an entry that holds nothing any more belongs to what is left of the whole entry.
        const frame = after?.blocks.length === 0 ? tokensOf(after) : 0;
        edits.push({
          turn: turns.length,
          cause: step.cause,
          attribution,
          tokensBefore: tokensOf(before) - frame,
          tokensAfter: tokensOf(after) - frame,
          subject: subjects.get(attribution.callId ?? '') ?? null,
        });
      }
    }
    if (steps.length > 0) closeTurn();
    return { turns, edits, names, toolsWithout: everything.byTool, toolsAtEnd: present.byTool };
  }
}

function isEntry(line: Line | EditStep): line is IContent {
  return 'speaker' in line;
}

function takeApart(
  lines: readonly Line[],
  density: DensityConfig | undefined,
): readonly (IContent | EditStep)[] {
  const putIn = new Set<IContent>();
  let known: IContent[] = [];
  return lines.map((line) => {
    if (isEntry(line)) {
      known.push(line);
      return line;
    }
    const { cause, pass, after } = line;
    const before = known;
    known = [...after];
    const isByModel = cause.step === 'compressed' && cause.isByModel;
    const attributions =
      pass !== null
        ? attributePass(
            pass.changes,
            pass.edits,
            density && explainDensity(before, density).explain,
          )
        : attributeCompression(before, after, { isByModel, putIn: new Set(putIn) });
    if (pass === null) {
      for (const attribution of attributions) {
        if (attribution.before === null && attribution.after !== null) putIn.add(attribution.after);
      }
    }
    return { cause, attributions, removed: without(before, after), added: without(after, before) };
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

function entriesOf(step: IContent | EditStep): readonly IContent[] {
  if (isEntry(step)) return [step];
  return [
    ...step.added,
    ...step.attributions.flatMap(({ before, after }) =>
      [before, after].filter((entry) => entry !== null),
    ),
  ];
}

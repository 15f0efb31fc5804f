// How a life of a chaos run is compacted: randomly drawn settings, and an unreliable summarizer.

import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EditPolicy } from '../../src/main/preflight/edit-options.js';
import { directoryStore } from '../../src/main/state/directory-store.js';
import { memoryStore } from '../../src/main/state/memory-store.js';
import type { StateStore } from '../../src/main/state/state-store.js';
import type { CompressionStrategyName } from '../../src/main/strategies/strategy.js';
import type {
  Summarizer,
  SummarizerRequest,
  SummarizerResponse,
} from '../../src/main/summarizer/summarizer.js';

export interface Way {
  readonly strategy: CompressionStrategyName;
  readonly edits: EditPolicy;
  /** The share of the window at which background summaries start; 1 for never. */
  readonly ahead: number;
  /** @default none */
  readonly store?: StateStore | undefined;
  /** Whether the store accepts every state. */
  readonly isStored: boolean;
}

const STRATEGIES = [
  ...(['high-density', 'high-density', 'top-down-truncation', 'provider'] as const),
  ...(['middle-out', 'one-shot', 'middle-out', 'one-shot'] as const),
];
const POLICIES = ['every-turn', 'every-turn', 'auto', 'append-only', 'at-birth'] as const;

/** A slow machine must not look like a failing store. */
const PATIENT = { deadlineMs: 60_000 };

/** Draws settings. A store on disk is in the directory. */
export function drawWay(random: () => number, directory: string): Way {
  const draw = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const [strategy, edits, ahead] = [draw(STRATEGIES), draw(POLICIES), draw([1, 0.4])];
  const way = { strategy, edits, ahead, isStored: true };
  return draw([
    () => ({ ...way, isStored: false }),
    () => ({ ...way, store: memoryStore(PATIENT) }),
    () => ({ ...way, store: directoryStore(directory, PATIENT) }),
    () => ({ ...way, store: fickle(memoryStore(PATIENT), random), isStored: false }),
  ])();
}

/** Whether edits land depending on when a model answers, so that no other session has the same edits. */
export function isTimed({ strategy, ahead }: Way): boolean {
  return ahead < 1 && (strategy === 'middle-out' || strategy === 'one-shot');
}

/** A store that sometimes fails or is slow. */
function fickle(store: StateStore, random: () => number): StateStore {
  const ask = async <Answer>(answer: () => Promise<Answer>): Promise<Answer> => {
    if (random() < 0.1) await delay(5 * random());
    if (random() < 0.1) throw new Error('the connection was reset');
    return answer();
  };
  return {
    load: (key) => ask(() => store.load(key)),
    save: (key, state, version) => ask(() => store.save(key, state, version)),
    delete: (key) => ask(() => store.delete(key)),
    limits: store.limits,
  };
}

type Answer = (request: SummarizerRequest, text: string) => Promise<SummarizerResponse>;

const answer: Answer = async (_, text) => ({ text, finishReason: 'stop' });

/** A model's answers to a request. Most are good, otherwise histories would soon be full. */
const ANSWERS: readonly Answer[] = [
  ...[answer, answer, answer, answer],
  async (request, text) => {
    await delay(15);
    return answer(request, text);
  },
  async () => Promise.reject(new Error('overloaded')),
  async () => ({ text: '', finishReason: 'stop' }),
  async (_, text) => ({ text: text.slice(0, 30), finishReason: 'length' }),
  // Answers only after the caller has given up.
  async (request, text) => {
    await new Promise((resolve) => {
      request.signal.addEventListener('abort', resolve, { once: true });
    });
    return answer(request, text);
  },
];

/** Gives the same answer to requests with the same entries, so that several sessions get the same summaries. */
export const CHAOTIC_SUMMARIZER: Summarizer = {
  contextLimit: 100_000,
  timeoutMs: 400,
  generate: (request) => {
    const digest = hash('sha256', request.id ?? request.prompt);
    const text = `<state_snapshot>${digest} was done</state_snapshot>`;
    const deed = ANSWERS[Number.parseInt(digest.slice(0, 6), 16) % ANSWERS.length] ?? answer;
    return deed(request, text);
  },
};

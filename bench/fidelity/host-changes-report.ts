// What ctxfold costs where the host changes what it has sent before, against sending the same changed lists as they are.

import { isAnswer, modelOfEntry } from '../../src/cli/replay/session-player.js';
import { createCompactor } from '../../src/index.js';
import type { IContent } from '../../src/index.js';
import { ContextMeter } from './context-meter.js';
import { brokenRules } from './five-lines.js';
import { HOST_CHANGES } from './host-changes.js';
import { numberText, percentText, sessionsText } from './policy-table.js';
import type { TextTable } from './policy-table.js';
import type { RecordedSession } from './recorded-session.js';
import { SDK_ROUTES } from './sdk-routes.js';
import type { SdkRoute } from './sdk-routes.js';

/** What one session cost, and whether what was sent is sound. */
interface Played {
  readonly cost: number;
  /** The cost of the host's own lists. */
  readonly givenCost: number;
  /** Violations of provider profiles that compaction introduced, once per request and rule. */
  readonly validityErrors: number;
  /** Texts of user and model that a request of the host had and the compacted one did not have. */
  readonly lostTexts: number;
}

/** All adapters, and one with a name for the conversation: without a name, some changes begin another conversation. */
const WAYS = [
  ...SDK_ROUTES.map((route) => ({ name: route.name, route, id: undefined })),
  ...SDK_ROUTES.slice(0, 1).map((route) => ({ name: 'named', route, id: 'conversation' })),
];

/** Plays each session once for each change and way. */
export async function hostChangesTable(contexts: readonly RecordedSession[]): Promise<TextTable> {
  const sessions = contexts.filter(({ hasTexts = true }) => hasTexts);
  const rows: (readonly string[])[] = [];
  for (const [name, change] of Object.entries(HOST_CHANGES)) {
    const all: Played[] = [];
    const costs: number[] = [];
    for (const { route, id } of WAYS) {
      const played: Played[] = [];
      for (const session of sessions) played.push(await play(session, change, route, id));
      costs.push(sumOf(played, 'cost') / sumOf(played, 'givenCost'));
      all.push(...played);
    }
    const dearest = Math.max(...all.map(({ cost, givenCost }) => cost / (givenCost || 1)));
    const faults = (['validityErrors', 'lostTexts'] as const).map((field) => sumOf(all, field));
    rows.push([name, ...[...costs, dearest].map(percentText), ...faults.map(numberText)]);
  }
  return {
    title: 'Changing hosts',
    subtitle: sessionsText(sessions),
    heads: [
      ...['what the host changes', ...WAYS.map(({ name }) => name)],
      ...['dearest session', 'validity errors', 'lost texts'],
    ],
    rows,
  };
}

async function play<Message extends object>(
  { transcript: { entries, workspaceRoot } }: RecordedSession,
  change: (typeof HOST_CHANGES)[string],
  { write, read, connect }: SdkRoute<Message>,
  conversationId: string | undefined,
): Promise<Played> {
  await using compactor = createCompactor({ workspaceRoot });
  const compact = connect(compactor, conversationId);
  const [meter, givenMeter] = [new ContextMeter(), new ContextMeter()];
  /** By content, because the meter compares by identity. */
  const known = new Map<string, IContent>();
  const entryOf = memoized((message: Message): IContent => {
    const text = JSON.stringify(message);
    const entry = known.get(text) ?? read(message);
    known.set(text, entry);
    return entry;
  });
  const messagesOf = memoized((entry: IContent) =>
    [write(entry)].filter((each) => each !== undefined),
  );
  let [request, validityErrors, lostTexts] = [0, 0, 0];
  for (const [at, entry] of entries.entries()) {
    if (!isAnswer(entry)) continue;
    request += 1;
    const messages = change(entries.slice(0, at), request).flatMap(messagesOf);
    const given = messages.map(entryOf);
    const returned = (await compact(messages, modelOfEntry(entry))).map(entryOf);
    givenMeter.send(given);
    meter.send(returned);
    if (returned.every((each, index) => each === given[index])) continue;
    validityErrors += brokenRules(given, returned);
    lostTexts += lostOf(textsIn(given), textsIn(returned));
  }
  const [{ inputCost: cost }, { inputCost: givenCost }] = [meter.figures, givenMeter.figures];
  return { cost, givenCost, validityErrors, lostTexts };
}

function sumOf(played: readonly Played[], field: keyof Played): number {
  return played.reduce((sum, each) => sum + each[field], 0);
}

/** A function that remembers what it returned for each object. */
function memoized<From extends object, To extends object>(
  make: (from: From) => To,
): (from: From) => To {
  const made = new WeakMap<From, To>();
  return (from) => {
    const value = made.get(from) ?? make(from);
    made.set(from, value);
    return value;
  };
}

/** How many of the texts are not among others, each as often as it was given. */
function lostOf(given: readonly string[], returned: readonly string[]): number {
  const rest = new Map<string, number>();
  for (const text of returned) rest.set(text, (rest.get(text) ?? 0) + 1);
  return given.filter((text) => {
    const left = rest.get(text) ?? 0;
    rest.set(text, left - 1);
    return left <= 0;
  }).length;
}

function textsIn(entries: readonly IContent[]): readonly string[] {
  return entries.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  );
}

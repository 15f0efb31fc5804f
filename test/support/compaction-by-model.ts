// Shared tests of compaction by a model of OpenAI's Responses API, as the provider sees it. Each SDK only supplies how to
// continue a conversation.

import type { Compactor } from '../../src/main/compactor.js';
import type { CompressedEvent } from '../../src/main/preflight/session-events.js';
import { memoryStore } from '../../src/main/state/memory-store.js';
import type { Session } from '../../src/main/session.js';
import type { StateStore } from '../../src/main/state/state-store.js';
import type { EphemeralSettings } from '../../src/main/settings/ephemeral-settings.js';
import type { AdapterOptions } from '../../src/adapters/request/adapter-options.js';
import { expect, it } from 'vitest';
import { startCompactingProvider } from './compacting-provider.js';
import type { CompactingProvider, SeenRequest } from './compacting-provider.js';
import { openCompactor } from './open-compactor.js';

/** A turn, which each SDK turns into its own messages. */
export interface Turn {
  readonly user: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: { readonly file_path: string };
  readonly reasoning: string;
  readonly result: string;
  readonly said: string;
}

/** Opens a conversation of an SDK. */
export interface OpenTalk {
  (world: {
    readonly url: string;
    readonly compactor: Compactor;
    readonly options: AdapterOptions;
    /** Whether requests refer to a conversation stored by the server. */
    readonly isHeld: boolean;
    /** Its messages, which outlive a process; empty at first. */
    readonly messages: unknown[];
  }): {
    /** Adds a turn and the user's next message, and calls the model. */
    readonly send: (turn: Turn, next: string, signal?: AbortSignal) => Promise<unknown>;
  };
}

const LONG = 'lorem ipsum dolor '.repeat(230);

function turnOf(at: number): Turn {
  return {
    user: `Never skip part ${at}. ${LONG}`,
    callId: `call_${at}`,
    tool: at % 2 === 0 ? 'read_file' : 'write_file',
    input: { file_path: `/p${at >> 1}.ts` },
    reasoning: `rs_${at}`,
    result: `${at} ${LONG}`,
    said: `done ${at}`,
  };
}

/** Options to open a conversation with, and recorders for its session's events. */
export function openCompaction(
  settings: EphemeralSettings = {},
  store?: StateStore,
  events: CompressedEvent[] = [],
) {
  const sessions: Session[] = [];
  const warnings: string[] = [];
  const compactor = openCompactor({
    ...(store && { store }),
    contextLimit: 8_000,
    settings: { 'compression.strategy': 'provider', 'compression.ahead': 1, ...settings },
  });
  const options: AdapterOptions = {
    onError: 'throw',
    onSession: (session) => {
      sessions.push(session);
      session.on('compressed', (event) => events.push(event));
    },
    logger: {
      debug: () => undefined,
      warn: (message) => void warnings.push(message),
      error: () => undefined,
    },
  };
  return { compactor, options, events, sessions, warnings };
}

/** Opens a conversation with a compacting provider, and plays turns. */
export async function playTalk(
  open: OpenTalk,
  { settings = {}, isHeld = false }: { settings?: EphemeralSettings; isHeld?: boolean } = {},
) {
  const provider = await startCompactingProvider();
  const store = memoryStore();
  const messages: unknown[] = [];
  const events: CompressedEvent[] = [];
  const start = () => {
    const { compactor, options, sessions, warnings } = openCompaction(settings, store, events);
    const { send } = open({ url: provider.baseURL, compactor, options, isHeld, messages });
    return { compactor, send, sessions, warnings };
  };
  let process = start();
  let at = 0;
  return {
    provider,
    events,
    /** The first process. */
    ...{ sessions: process.sessions, warnings: process.warnings },
    /** Continues the conversation in another process with the same store. */
    restart: async () => {
      await process.compactor.close();
      process = start();
    },
    /** Plays turns until an event, or until the limit. */
    play: async (turns: number, until = Infinity, signal?: AbortSignal) => {
      for (const last = at + turns; at < last && events.length < until; at += 1)
        await process.send(turnOf(at), `go on ${at}`, signal);
    },
  };
}

const isAsked = ({ body }: SeenRequest): boolean =>
  body.input?.at(-1)?.['type'] === 'compaction_trigger';
const isSystem = ({ role }: Readonly<Record<string, unknown>>): boolean =>
  role === 'system' || role === 'developer';
/** The settings of a request: everything but its messages, plus the system text. */
const settingsOf = ({ body }: SeenRequest): Readonly<Record<string, unknown>> => ({
  ...body,
  input: body.input?.filter(isSystem),
});
const compactionsIn = ({ body }: SeenRequest): readonly unknown[] =>
  (body.input ?? []).filter(({ type }) => type === 'compaction');
const refusedIn = ({ requests }: CompactingProvider): readonly SeenRequest[] =>
  requests.filter(({ status, body }) => status !== 200 && !isAsked({ body } as SeenRequest));

/** Declares the tests. `endsWithSignal`: whether the SDK passes on the turn's own abort signal. */
export function itHasTheModelCompact(open: OpenTalk, endsWithSignal = true): void {
  it('has it compact by a call with the same system, tools and settings, and carries the item byte for byte, first of all', async () => {
    const { provider, events, play } = await playTalk(open);
    await play(60, 2);
    await play(2);
    const asked = provider.requests.filter(isAsked);
    expect(asked.length).toBeGreaterThan(1);
    expect(provider.requests.filter(({ status }) => status !== 200)).toEqual([]);
    expect(events.map(({ strategy, outcome }) => `${strategy} ${outcome}`)).toEqual(
      asked.map(() => 'provider applied'),
    );
    const settings = settingsOf(asked[0]!);
    expect(settings).toEqual(settingsOf(provider.requests[0]!));
    expect(settings['tools']).toHaveLength(2);
    expect(JSON.stringify(settings)).toContain('Be brief.');
    // The second compaction covers the first and everything after it.
    expect([compactionsIn(asked[0]!), compactionsIn(asked[1]!)]).toMatchObject([[], [{}]]);
    const first = provider.requests.indexOf(asked[0]!);
    const [made] = compactionsIn(provider.requests[first + 1]!);
    for (const request of provider.requests.slice(first + 1, first + 3)) {
      expect(compactionsIn(request)).toEqual([made]);
      const system = request.body.input!.filter(isSystem);
      expect(request.body.input!.findIndex(({ type }) => type === 'compaction')).toBe(
        system.length,
      );
    }
  });

  it('carries the item in another process, whose conversation is found by its beginning', async () => {
    const settings = { 'compression.density.readWritePruning': false };
    const { provider, events, play, restart } = await playTalk(open, { settings });
    await play(60, 1);
    // Some SDKs send it from the next turn on.
    if (compactionsIn(provider.requests.at(-1)!).length === 0) await play(1);
    const before = provider.requests.at(-1)!;
    await restart();
    await play(1);
    const after = provider.requests.at(-1)!;
    expect(compactionsIn(before)).toHaveLength(1);
    expect(compactionsIn(after)).toEqual(compactionsIn(before));
    expect(after.body.input!.slice(0, before.body.input!.length)).toEqual(before.body.input);
    expect([events.length, provider.requests.filter(isAsked).length]).toEqual([1, 1]);
    expect(refusedIn(provider)).toEqual([]);
  });

  it('keeps the reasoning behind it, and the words of the user, and leaves out what was pruned', async () => {
    const { provider, play } = await playTalk(open, {
      settings: { 'compression.preserveThreshold': 0.5 },
    });
    await play(16, 1);
    const first = provider.requests.at(-1)!.body.input!.map((item) => JSON.stringify(item));
    // Anything before them would invalidate them.
    const note = first.findIndex((item) => item.includes('Record of what was asked'));
    expect(note).toBeGreaterThan(first.findLastIndex((item) => item.includes('"reasoning"')));
    await play(1);
    const asked = provider.requests.find(isAsked)!.body.input!;
    const names = new Set(asked.map(({ name }) => name));
    expect([names.has('read_file'), names.has('write_file')]).toEqual([false, true]);
    const last = provider.requests.at(-1)!.body.input!;
    const calls = last.filter(({ type }) => type === 'function_call');
    const thoughts = last.filter(({ type }) => type === 'reasoning');
    expect(calls.length).toBeGreaterThan(1);
    expect(thoughts.length).toBeGreaterThanOrEqual(calls.length);
    expect(JSON.stringify(last)).toContain('Never skip part 0.');
  });

  it.each<[string, readonly [number, Record<string, unknown>], string]>([
    ['refuses', [400, { error: { message: 'no', type: 'x' } }], 'refused'],
    [
      'answers with an empty one',
      [200, responseOf([{ type: 'compaction', id: 'cmp_0', encrypted_content: '' }])],
      'made no compaction',
    ],
  ])('goes on by another strategy where it %s, and says so once', async (_, refusal, words) => {
    const { provider, events, play } = await playTalk(open);
    provider.refusals.push(refusal);
    await play(20, 1);
    await play(1);
    const [event, ...others] = events.filter(({ fallbackFrom }) => fallbackFrom !== undefined);
    expect(event).toMatchObject({
      ...{ strategy: 'high-density', outcome: 'applied' },
      fallbackFrom: { strategy: 'provider', error: { code: 'PROVIDER_COMPACTION_FAILED' } },
    });
    expect(event!.fallbackFrom!.error.message).toContain(words);
    expect(others).toEqual([]);
    expect(refusedIn(provider)).toEqual([]);
  });

  it('has it compact ahead of time, while turns go on', async () => {
    const { provider, events, play } = await playTalk(open, {
      settings: { 'compression.ahead': 0.5 },
    });
    await play(20, 1);
    await play(1);
    const [event] = events.filter(({ outcome }) => outcome !== 'held');
    expect(event).toMatchObject({ strategy: 'provider', outcome: 'applied', isAhead: true });
    expect(provider.requests.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it('compacts nothing where the server holds the conversation, and says so once', async () => {
    const { provider, sessions, warnings, play } = await playTalk(open, { isHeld: true });
    await play(12);
    expect(provider.requests.filter(({ status }) => status !== 200)).toEqual([]);
    expect(provider.requests).toHaveLength(12);
    expect(sessions).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('the server holds')]);
  });

  it.runIf(endsWithSignal)('ends with the signal of the turn', async () => {
    const { provider, events, play } = await playTalk(open);
    const stop = new AbortController();
    provider.onCompaction = (closed) => {
      stop.abort(new Error('stopped'));
      return closed;
    };
    await expect(play(20, Infinity, stop.signal)).rejects.toThrow(/stopped|abort/i);
    await expect.poll(() => provider.requests.filter(isAsked)).toHaveLength(1);
    expect(events).toEqual([]);
    provider.onCompaction = () => undefined;
    await play(2);
    expect(provider.requests.at(-1)?.status).toBe(200);
  });
}

/** Declares a test that a model is not asked: checks the event, and that the turn uses the other strategy. */
export function itSaysWhyNot(open: OpenTalk, words: string): void {
  it('has another strategy take its place, asks for nothing, and says why', async () => {
    const { provider, events, play } = await playTalk(open);
    await play(20, 1);
    expect(provider.requests.some(isAsked)).toBe(false);
    expect(events).toMatchObject([
      { strategy: 'high-density', outcome: 'applied', fallbackFrom: { strategy: 'provider' } },
    ]);
    expect(events[0]!.fallbackFrom!.error.message).toContain(words);
  });
}

function responseOf(output: readonly object[]): Record<string, unknown> {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return { id: 'resp_0', object: 'response', status: 'completed', created_at: 1, model: 'm', usage, output }; // prettier-ignore
}

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { conversationName } from '../../../src/gateway/engine/conversation-name.js';
import type { ConversationState, EngineAnswer } from '../../../src/gateway/engine/protocol.js';
import { Ledger } from '../../../src/gateway/server/ledger.js';
import type { CallRecord } from '../../../src/gateway/server/ledger.js';
import { completeGatewayOptions } from '../../../src/gateway/server/options.js';

const SESSION = '11111111-2222-4333-8444-555555555555';
const USER = `user_1f_account__session_${SESSION}`;
const NOTHING = { sentTokens: 0, cacheReadTokens: 0, requests: 0 };

function lineOf({
  cacheTtlMs,
  isRewritten = false,
}: Partial<ConversationState>): ConversationState {
  return {
    ...{ id: 'one', name: undefined, api: 'anthropic', model: 'claude-sonnet-4-5', isNew: false },
    ...{ isRewritten, givenMessages: 1, sentMessages: 1, contextLimit: 200_000, cacheTtlMs },
    bindsReasoning: false,
    costs: { ...NOTHING, uncompacted: NOTHING } as unknown as ConversationState['costs'],
  };
}

/** The record of a call, to pass to `recordUsage`. */
function recorded(ledger: Ledger, answer: EngineAnswer, bytes: number): CallRecord {
  const call = ledger.recordAnswer(answer, bytes);
  if (call === undefined) throw new Error('the answer is of no turn');
  return call;
}

interface Call {
  readonly waitMs?: number;
  readonly cacheTtlMs?: number;
  readonly isRewritten?: boolean;
  readonly edits?: number;
  readonly bytes?: number;
  readonly isSum?: boolean;
  /** Tokens of the prompt, and how many of them were read from the cache. */
  readonly prompt: number;
  readonly read: number;
}

/** The cause of a cache miss that the ledger reports for the last of some calls. */
function missOf(...calls: readonly Call[]): string | undefined {
  const ledger = new Ledger(completeGatewayOptions({ mode: 'compact' }));
  for (const {
    waitMs = 1_000,
    edits = 0,
    bytes = 9,
    isSum = false,
    prompt,
    read,
    ...about
  } of calls) {
    vi.advanceTimersByTime(waitMs);
    const edit = { number: 0, rule: 'r', action: 'a', tool: undefined, before: 2, after: 1 };
    const line = lineOf(about);
    const landed = Array.from({ length: edits }, () => edit);
    const answer = { outcome: 'unchanged', conversation: line, edits: landed } as const;
    const call = recorded(ledger, answer, bytes);
    const usage = { inputTokens: prompt - read, cacheReadTokens: read };
    ledger.recordUsage('one', call, {
      usage: { ...usage, cacheWriteTokens: 0, outputTokens: 1, isSum },
      mode: 'compact',
      status: 200,
    });
  }
  return ledger.conversation('one')?.recent.at(-1)?.miss;
}

/** A ledger with at most `maxConversations` conversations. */
function ledgerOf(maxConversations: number) {
  const ledger = new Ledger(completeGatewayOptions({ mode: 'compact', maxConversations }));
  const call = (id: string, bindsReasoning = false): void => {
    const line = { ...lineOf({}), id, bindsReasoning };
    const answer = { outcome: 'edited', editedBytes: 5, conversation: line, edits: [] } as const;
    const usage = { usage: undefined, mode: 'compact', status: 200 } as const;
    ledger.recordUsage(id, recorded(ledger, answer, 9), usage);
  };
  const ids = (): string[] => ledger.conversations.map(({ line }) => line.id);
  return { ledger, call, ids };
}

describe('Ledger', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['observe', 200, 5, 'observe'],
    ['compact', 529, 5, 'observe'],
    ['compact', 200, 9, 'observe'],
    ['compact', 200, 5, 'compact'],
  ] as const)(
    'keeps compacting only what a model has reasoned about: %s, %i, %i bytes',
    (mode, status, editedBytes, later) => {
      const ledger = new Ledger(completeGatewayOptions({ mode: 'observe' }));
      const line = { ...lineOf({}), bindsReasoning: true };
      const answer = { outcome: 'edited', editedBytes, conversation: line, edits: [] } as const;
      ledger.recordUsage('one', recorded(ledger, answer, 9), { usage: undefined, mode, status });
      expect(ledger.modeOf(line)).toBe(later);
    },
  );

  it.each([
    ['its id', 'one', {}],
    ['a name', 'chat-7', { session_id: 'chat-7' }],
    [
      'a name that is shown by its hash',
      'me@example.com: chat 7',
      { prompt_cache_key: 'me@example.com: chat 7' },
    ],
    ['a user id of Claude Code', USER, { metadata: { user_id: USER } }],
    ['the session in such a user id', SESSION, { metadata: { user_id: USER } }],
  ])('only observes a conversation that is given by %s', (_, dry, fields) => {
    const ledger = new Ledger(completeGatewayOptions({ mode: 'compact', dry: [dry] }));
    expect(ledger.modeOf({ id: 'one', name: conversationName(fields) })).toBe('observe');
    expect(ledger.modeOf({ id: 'two', name: 'another' })).toBe('compact');
  });

  it('returns the conversations that a switch of the mode newly compacts, and notifies listeners of all', () => {
    const ledger = new Ledger(completeGatewayOptions({ dry: ['dry'] }));
    for (const id of ['a', 'b', 'dry']) {
      const conversation = { ...lineOf({}), id };
      recorded(ledger, { outcome: 'unchanged', conversation, edits: [] }, 9);
    }
    const heard: string[] = [];
    ledger.on('conversation', (id) => heard.push(id));
    ledger.on('status', () => heard.push('status'));
    expect(ledger.setMode('compact', 'a')).toEqual(['a']);
    expect(heard).toEqual(['status', 'a', 'b', 'dry']);
    expect(ledger.status.mode).toBe('observe');
    expect(ledger.setMode('compact')).toEqual(['b']);
    expect(ledger.status.mode).toBe('compact');
    expect(ledger.setMode('observe', 'a')).toEqual([]);
    expect(ledger.modeOf({ id: 'a', name: undefined })).toBe('observe');
    expect(ledger.setMode('compact', 'unknown')).toBeUndefined();
  });

  it('logs a failure at most once a minute, and counts equal ones', () => {
    const warn = vi.fn();
    const logger = { debug: vi.fn(), warn, error: vi.fn() };
    const ledger = new Ledger(completeGatewayOptions({ logger }));
    const failures = ['the state is not kept'];
    for (const waitMs of [0, 59_000, 1_000]) {
      vi.advanceTimersByTime(waitMs);
      ledger.recordAnswer({ outcome: 'passed', edits: [], failures }, 9);
      ledger.recordFailure('openai did not answer (ECONNRESET)');
    }
    const both = [['the state is not kept'], ['openai did not answer (ECONNRESET)']];
    expect(warn.mock.calls.map(([message]) => [message as unknown])).toEqual([...both, ...both]);
    expect(ledger.status.failureCount).toBe(6);
    expect(ledger.status.failures.map(({ message, count }) => [message, count])).toEqual(
      both.map(([message]) => [message, 3]),
    );
  });

  it('attributes usage to its own call when requests overlap', () => {
    const ledger = new Ledger(completeGatewayOptions({ mode: 'compact' }));
    const answer = { outcome: 'unchanged', conversation: lineOf({}), edits: [] } as const;
    const [former, later] = [recorded(ledger, answer, 9), recorded(ledger, answer, 10)];
    ledger.recordUsage('one', later, { usage: undefined, mode: 'compact', status: 200 });
    ledger.recordUsage('one', former, { usage: undefined, mode: 'compact', status: 529 });
    const statuses = ledger.conversation('one')?.recent.map(({ bytes, status }) => [bytes, status]);
    expect(statuses).toEqual([
      [9, 529],
      [10, 200],
    ]);
  });

  it('keeps the newest edits of a call that has more of them than a function takes arguments', () => {
    const ledger = new Ledger(completeGatewayOptions({}));
    const edit = { rule: 'r', action: 'a', tool: undefined, before: 2, after: 1 };
    const edits = Array.from({ length: 130_000 }, (_, number) => ({ number, ...edit }));
    ledger.recordAnswer({ outcome: 'edited', conversation: lineOf({}), edits }, 9);
    expect(ledger.conversation('one')?.edits).toEqual(edits.slice(-200));
  });

  it('notifies of a conversation that it removes', () => {
    const { ledger, call } = ledgerOf(2);
    const gone: string[] = [];
    ledger.on('conversation', (id) => {
      if (ledger.conversation(id) === undefined) gone.push(id);
    });
    for (const id of ['one', 'two', 'one', 'three', 'four']) call(id);
    expect(gone).toEqual(['two', 'one']);
  });

  it('removes conversations that stay compacted last, and never the newest one', () => {
    const { ledger, call, ids } = ledgerOf(2);
    call('held', true);
    for (const id of ['one', 'two']) call(id);
    expect(ids()).toEqual(['held', 'two']);
    ledger.setMode('observe');
    expect(ledger.modeOf({ id: 'held', name: undefined })).toBe('compact');
    call('held too', true);
    call('three');
    expect(ids()).toEqual(['held too', 'three']);
  });

  it('reports why a prompt was not read from the cache', () => {
    const first = { prompt: 9_000, read: 0 };
    expect(missOf(first)).toBe('first call');
    expect(missOf(first, { prompt: 9_500, read: 8_000 })).toBeUndefined();
    expect(missOf(first, { prompt: 9_500, read: 4_000 })).toBe('changed-request');
    expect(missOf(first, { prompt: 9_500, read: 0, edits: 1 })).toBe('edit');
    expect(missOf(first, { prompt: 9_500, read: 0, bytes: 8 })).toBe('changed by the host');
    const rewritten = { prompt: 9_500, read: 0, edits: 1, isRewritten: true };
    expect(missOf(first, rewritten)).toBe('changed by the host');
  });

  it('expects cache reads up to the common prefix, and none for prompts too short to be cached', () => {
    expect(missOf({ prompt: 90_000, read: 0 }, { prompt: 9_000, read: 8_000 })).toBeUndefined();
    const first = { prompt: 9_000, read: 0 };
    const sum = { prompt: 90_000, read: 0, isSum: true };
    expect(missOf(first, sum)).toBeUndefined();
    expect(missOf(first, sum, { prompt: 9_500, read: 4_000 })).toBeUndefined();
    expect(missOf({ prompt: 500, read: 0 }, { prompt: 600, read: 0 })).toBeUndefined();
  });

  it('treats a cache as expired after the lifetime that the previous request asked for', () => {
    const late = { waitMs: 600_000, prompt: 9_500, read: 0 };
    expect(missOf({ prompt: 9_000, read: 0 }, late)).toBe('expired');
    expect(missOf({ prompt: 9_000, read: 0, cacheTtlMs: 3_600_000 }, late)).toBe('changed-request');
    expect(missOf({ prompt: 9_000, read: 0 }, { ...late, cacheTtlMs: 3_600_000 })).toBe('expired');
  });
});

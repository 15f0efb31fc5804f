// The protocol between server and engine. Plain data, because it may cross threads. Bodies are in shared memory.

import type { CostReport } from '../../main/preflight/cost-meter.js';
import type { ApiName } from './apis.js';

/** A request with its complete body. */
export interface EngineCall {
  readonly api: ApiName;
  /** The bytes must not change from now on. */
  readonly body: Uint8Array;
  /** Separates users (by key) and upstreams: conversations are never shared between scopes. */
  readonly scope: string;
  /** The host's name for the conversation; not unique. */
  readonly name?: string | undefined;
  /** The model, if the path names it. */
  readonly model?: string | undefined;
  /** Why the request must not be compacted, if its headers say so. */
  readonly passes?: string | undefined;
  /** Whether the request asks for the number of tokens of its messages, which therefore get no new edits. @default false */
  readonly isCount?: boolean | undefined;
  /** The error with which the upstream refused the request as compacted before: it is compacted again. @default it was not refused */
  readonly refusal?: string | undefined;
  /** Whether the original body is sent in any case, so that no new body is assembled. @default false */
  readonly isObserved?: boolean | undefined;
}

/** The result for a request. */
export interface EngineAnswer {
  /**
   * `edited`: send the new body. `unchanged`: nothing to edit. `passed`: the request must not be edited. `failed`: it could not
   * be read, or compaction failed. In all cases but the first, send the original body.
   */
  readonly outcome: 'edited' | 'unchanged' | 'passed' | 'failed';
  /** The reason, without content of the conversation. */
  readonly reason?: string | undefined;
  /** The edited body, in shared memory. `undefined` if the request is only observed. */
  readonly body?: Uint8Array | undefined;
  /** Whether the request is not a turn of its conversation, but a count, a side call or a compaction. @default false */
  readonly isAside?: boolean | undefined;
  /** Length of the edited body in bytes, also if the request is only observed. */
  readonly editedBytes?: number | undefined;
  readonly line?: LineReport | undefined;
  /** The edits that landed in this call. */
  readonly edits: readonly EditReport[];
  /** Other failures during this call or since the previous one, such as saving a state. They hold no content. */
  readonly failures?: readonly string[] | undefined;
}

/** The state of one conversation. */
export interface LineReport {
  readonly id: string;
  readonly name: string | undefined;
  readonly api: ApiName;
  readonly model: string | undefined;
  readonly givenMessages: number;
  readonly sentMessages: number;
  /** Tokens sent with edits and without, and an estimate of how many of them the provider's cache served. */
  readonly costs: CostReport;
  readonly contextLimit: number;
  /** The cache lifetime that the request asks for, in milliseconds; `undefined` if it asks for none. */
  readonly cacheTtlMs: number | undefined;
  /** Whether the model refuses reasoning that follows other messages than those that it was made from. */
  readonly bindsReasoning: boolean;
  /** Whether this call started the conversation. */
  readonly isNew: boolean;
  /** Whether the host has rewritten earlier messages of this conversation, as by summarizing them or clearing results. */
  readonly isRewritten: boolean;
}

/** One edit, without content. */
export interface EditReport {
  readonly number: number;
  readonly rule: string;
  readonly action: string;
  readonly tool: string | undefined;
  /** Characters of text before the edit and after it. */
  readonly before: number;
  readonly after: number;
}

/** The usage that a provider reported for a request, in its tokens. `inputTokens` excludes tokens of the cache. */
export interface AnsweredUsage {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

/** Compacts requests. Its promises never reject. */
export interface Engine {
  /** Compacts a request of a conversation. */
  compact(call: EngineCall): Promise<EngineAnswer>;
  /** Compacts messages that belong to no conversation. */
  compactOnce(body: Uint8Array): Promise<OnceAnswer>;
  /**
   * Records the usage reported for a request, identified by the engine's answer to it. Ignored once the next request was compacted.
   */
  report(line: Pick<LineReport, 'id' | 'costs'>, usage: AnsweredUsage): void;
  /**
   * Records a provider's refusal, which may name the context limit. The next request of the conversation is compacted so that the
   * provider does not refuse it for the same reason again.
   */
  reportRefusal(text: string, model: string | undefined, line: string | undefined): void;
  /**
   * Notes that reasoning in a conversation may be bound to other messages than those that will be sent, because its requests were sent
   * unedited so far. The next request is sent without that reasoning.
   */
  noteBoundReasoning(line: string): void;
  /** Resolves to the text that an edit removed; `undefined` if it is no longer kept. */
  original(line: string, edit: number): Promise<string | undefined>;
  close(): Promise<void>;
}

/** The answer to `compactOnce`. */
export interface OnceAnswer {
  readonly status: 200 | 400 | 503;
  /** JSON, or the reason for the refusal. */
  readonly body: Uint8Array;
}

/** The methods that can be called on an engine in another thread. */
export type EngineMethod = keyof Engine;

/** One call of a method. */
export interface EngineQuestion {
  readonly id: number;
  readonly method: EngineMethod;
  readonly arguments: readonly unknown[];
}

/** The result of a call. */
export interface EngineReply {
  readonly id: number;
  readonly value: unknown;
}

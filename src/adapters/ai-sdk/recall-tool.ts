// A tool for the AI SDK by which a model gets back what was taken out of its conversation. Known to the SDK by
// its shape alone; what goes wrong is told to the model and never thrown at the run.

import type { Compactor } from '../../main/compactor.js';
import type { RestoredResponse } from '../../main/removal-log/restore.js';
import type { RestoreOptions } from '../../main/removal-log/restore-latest.js';
import { assertSessionScope } from '../../main/removal-log/session-scope.js';
import type { Session } from '../../main/session.js';
import { CtxfoldError } from '../../shared/errors.js';
import {
  adviceForAbsent,
  NO_RECALL_ID,
  RECALL_DESCRIPTION,
  RECALL_SCHEMA,
  shownId,
} from '../recall-words.js';

/**
 * Whose results the tool gives back: those of one conversation. The options of the conversation's `prepareStep` will
 * do, so that one object says it to both.
 */
export type RecallConversation =
  | {
      readonly conversationId: string;
      /** Where the conversation keeps what goes: one of the same id in another directory is another one. */
      readonly removalLogDirectory: string;
      readonly acrossSessions?: false | undefined;
    }
  | {
      /** Every open session's, whoever recorded them: for a host that serves one user alone. */
      readonly acrossSessions: true;
      readonly conversationId?: undefined;
      readonly removalLogDirectory?: undefined;
    };

/** What the model calls the tool with. */
export interface RecallInput {
  /** The id of a tool call. */
  readonly id: string;
}

/** A schema that the AI SDK asks for its JSON Schema and for a check, by the Standard Schema interfaces. */
export interface RecallInputSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'ctxfold';
    readonly types?: { readonly input: RecallInput; readonly output: RecallInput } | undefined;
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: RecallInput; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string }[] };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** A tool of AI SDK 6 and 7. */
export interface RecallTool {
  readonly description: string;
  readonly inputSchema: RecallInputSchema;
  /** Resolves to the original, as the tool had given it, or to a text that says what to do without it. */
  readonly execute: (input: RecallInput) => Promise<unknown>;
}

/**
 * Makes a tool that returns the original result of a tool call. Give it to the run as `recall`, the name by
 * which placeholders call it, and set `compression.density.placeholder` to `informative`, so that these tell
 * the ids. Sessions have to keep transcripts; what a transcript holds from before a restart is found as
 * well. What is recalled enters the conversation like any result, and may be taken out of it again.
 *
 * Ids of calls are easily guessed, so the tool belongs to one conversation: make one for each run, of the session or
 * by what names the conversation and its transcript.
 *
 * @throws TypeError when no conversation is named.
 */
export function recallTool(session: Pick<Session, 'sessionId' | 'restore'>): RecallTool;
export function recallTool(
  compactor: Pick<Compactor, 'restore'>,
  conversation: RecallConversation,
): RecallTool;
export function recallTool(
  source: Pick<Session, 'sessionId' | 'restore'> | Pick<Compactor, 'restore'>,
  conversation?: RecallConversation,
): RecallTool {
  const restore = 'sessionId' in source ? ofSession(source) : ofConversation(source, conversation);
  return {
    description: RECALL_DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    execute: async ({ id }) => {
      if (typeof id !== 'string') return NO_RECALL_ID;
      try {
        return originalOf(await restore(id));
      } catch (thrown) {
        return adviceFor(thrown, id);
      }
    },
  };
}

type Restore = (callId: string) => Promise<RestoredResponse>;

function ofSession(session: Pick<Session, 'restore'>): Restore {
  return (callId) => session.restore(callId);
}

function ofConversation(
  compactor: Pick<Compactor, 'restore'>,
  conversation: RecallConversation | undefined,
): Restore {
  const { conversationId, removalLogDirectory, acrossSessions } = conversation ?? {};
  // Checked here, for an error of `restore` is told to the model and not to whoever made the tool.
  const scope: unknown = { sessionId: conversationId, acrossSessions };
  assertSessionScope(scope);
  if (
    acrossSessions !== true &&
    (typeof removalLogDirectory !== 'string' || !removalLogDirectory)
  ) {
    throw new TypeError('Expected the removalLogDirectory of the conversation.');
  }
  const options: RestoreOptions = { ...scope, removalLogDirectory };
  return (callId) => compactor.restore(callId, options);
}

const INPUT_SCHEMA: RecallInputSchema = {
  '~standard': {
    version: 1,
    vendor: 'ctxfold',
    validate: (value) => {
      const { id } = Object(value) as { readonly id?: unknown };
      return typeof id === 'string' ? { value: { id } } : { issues: [{ message: NO_RECALL_ID }] };
    },
    // The SDK may add to what it is given.
    jsonSchema: {
      input: () => structuredClone(RECALL_SCHEMA),
      output: () => structuredClone(RECALL_SCHEMA),
    },
  },
};

/** A tool that failed may have said so in its error alone. */
function originalOf({ response: { result, error } }: RestoredResponse): unknown {
  const isSilent = result === undefined || result === null || result === '';
  return isSilent && error !== undefined ? error : result;
}

function adviceFor(thrown: unknown, id: string): string {
  const isAbsent = thrown instanceof CtxfoldError && thrown.code === 'NOT_IN_REMOVAL_LOG';
  if (isAbsent) return adviceForAbsent(id);
  return `The original of ${shownId(id)} cannot be read just now. Run the tool again if you need its result.`;
}

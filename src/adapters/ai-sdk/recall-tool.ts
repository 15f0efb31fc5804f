// A tool for the AI SDK that returns results which were removed from the conversation. Imports nothing of the SDK. Errors go to the
// model as text, and are never thrown.

import type { Compactor } from '../../main/compactor.js';
import { isNotInRemovalLog } from '../../main/removal-log/removal-log-errors.js';
import type { RestoredResponse } from '../../main/removal-log/restore.js';
import type { RestoreOptions } from '../../main/removal-log/restore-latest.js';
import { assertSessionScope } from '../../main/removal-log/session-scope.js';
import type { Session } from '../../main/session.js';
import { kindOf } from '../../shared/misuse.js';
import { shownId } from '../../shared/shown-text.js';
import {
  adviceForAbsent,
  NO_RECALL_ID,
  RECALL_DESCRIPTION,
  RECALL_SCHEMA,
} from '../request/recall-words.js';

/**
 * The conversation whose results the tool returns. The options of its `prepareStep` can be passed here.
 */
export type RecallConversation =
  | {
      readonly conversationId: string;
      /** The conversation's directory: the same id in another directory is another conversation. */
      readonly removalLogDirectory: string;
      readonly acrossSessions?: false | undefined;
    }
  | {
      /** Returns results of all open sessions, for hosts with a single user. */
      readonly acrossSessions: true;
      readonly conversationId?: undefined;
      readonly removalLogDirectory?: undefined;
    };

/** The tool's input. */
export interface RecallInput {
  /** The id of a tool call. */
  readonly id: string;
}

/** A schema with the Standard Schema interfaces that the AI SDK uses for validation and for the JSON Schema. */
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
  /** Resolves to the tool's original result, or to a text that tells the model what to do without it. */
  readonly execute: (input: RecallInput) => Promise<unknown>;
}

/**
 * Creates a tool that returns the original result of a tool call. Pass it to the run as `recall`, the name that
 * placeholders use, and set `compression.density.placeholder` to `informative`, so that placeholders contain
 * the ids. A conversation must keep a removal log, of which earlier processes' records are found, too; with a store instead, pass
 * its id and a `restore` that calls the compactor's. A recalled result enters the conversation like any other, and may be removed
 * again. With another SDK, `inputSchema['~standard'].jsonSchema.input()` is the JSON Schema.
 *
 * Ids of calls are easy to guess, so a tool belongs to one conversation: create one for each run, from the session or
 * from the conversation's id and directory.
 *
 * @throws TypeError if it is given neither a session nor a compactor, or no conversation is named.
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
  if (typeof (source as Partial<Compactor> | null | undefined)?.restore !== 'function') {
    throw new TypeError(`Expected a session or a compactor, got ${kindOf(source)}.`);
  }
  const restore =
    'sessionId' in source
      ? (callId: string) => source.restore(callId)
      : ofConversation(source, conversation);
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

function ofConversation(
  compactor: Pick<Compactor, 'restore'>,
  conversation: RecallConversation | undefined,
): Restore {
  const { conversationId, removalLogDirectory, acrossSessions } = conversation ?? {};
  // Checked here, because errors of `restore` go to the model and not to the caller.
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
    // The SDK may modify the schema.
    jsonSchema: {
      input: () => structuredClone(RECALL_SCHEMA),
      output: () => structuredClone(RECALL_SCHEMA),
    },
  },
};

/** Returns the error of a failed call without a result. */
function originalOf({ response: { result, error } }: RestoredResponse): unknown {
  const isEmpty = result === undefined || result === null || result === '';
  return isEmpty && error !== undefined ? error : result;
}

function adviceFor(thrown: unknown, id: string): string {
  if (isNotInRemovalLog(thrown)) return adviceForAbsent(id);
  return `The original of ${shownId(id)} cannot be read just now. Run the tool again if you need its result.`;
}

// A tool for the AI SDK by which a model gets back what was taken out of its conversation. Known to the SDK by
// its shape alone; what goes wrong is told to the model and never thrown at the run.

import type { Compactor } from '../../main/compactor.js';
import type { RestoredResponse } from '../../main/removal-log/restore.js';
import type { RestoreOptions } from '../../main/removal-log/restore-latest.js';
import { assertSessionScope } from '../../main/removal-log/session-scope.js';
import type { Session } from '../../main/session.js';
import { CtxfoldError } from '../../shared/errors.js';

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
    description: DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    execute: async ({ id }) => {
      if (typeof id !== 'string') return NO_ID;
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

const DESCRIPTION =
  'Returns the full original result of an earlier tool call that was shortened to a placeholder to save ' +
  'space, such as [read_file: src/a.ts — success, 120 lines; recall("call_1") for the original]. Use it ' +
  'when you need details that the placeholder does not have, instead of running that tool again. It gives ' +
  'what the tool answered back then: to learn how things are now, run the tool again instead.';

const ID_DESCRIPTION = 'The id that the placeholder has in quotes, without the quotes.';
const NO_ID = 'Nothing was recalled: give the id of a tool call as `id`, a text.';
const MAX_SHOWN_ID_LENGTH = 100;

const JSON_SCHEMA = {
  type: 'object',
  properties: { id: { type: 'string', description: ID_DESCRIPTION } },
  required: ['id'],
  additionalProperties: false,
};

const INPUT_SCHEMA: RecallInputSchema = {
  '~standard': {
    version: 1,
    vendor: 'ctxfold',
    validate: (value) => {
      const { id } = Object(value) as { readonly id?: unknown };
      return typeof id === 'string' ? { value: { id } } : { issues: [{ message: NO_ID }] };
    },
    // The SDK may add to what it is given.
    jsonSchema: {
      input: () => structuredClone(JSON_SCHEMA),
      output: () => structuredClone(JSON_SCHEMA),
    },
  },
};

/** A tool that failed may have said so in its error alone. */
function originalOf({ response: { result, error } }: RestoredResponse): unknown {
  const isSilent = result === undefined || result === null || result === '';
  return isSilent && error !== undefined ? error : result;
}

function adviceFor(thrown: unknown, id: string): string {
  const shown = JSON.stringify(id.slice(0, MAX_SHOWN_ID_LENGTH));
  const isAbsent = thrown instanceof CtxfoldError && thrown.code === 'NOT_IN_REMOVAL_LOG';
  return isAbsent
    ? `No original is on record for ${shown}. If its result stands in the conversation, read it there; ` +
        'else check the id against the placeholder, or run the tool again.'
    : `The original of ${shown} cannot be read just now. Run the tool again if you need its result.`;
}

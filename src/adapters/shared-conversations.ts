// The conversations of a compactor, by format and options: who makes an adapter anew for each run goes on
// with the conversations of the run before.

import type { Compactor } from '../main/compactor.js';
import { isSameValue } from './same-value.js';
import type { CompleteAdapterOptions } from './adapter-options.js';
import { Conversations } from './conversations.js';
import type { MessageFormat } from './message-format.js';

/** Sets of options that a compactor remembers conversations for. */
const MAX_OPTION_SETS = 16;

/** What tells a named conversation from others of the same format. */
export interface NamedConversation {
  readonly conversationId: string;
  readonly removalLogDirectory: string | undefined;
}

interface Known {
  readonly format: unknown;
  readonly plainOptions: PlainOptions;
  readonly conversations: unknown;
  readonly forget: (conversationId: string) => Promise<void> | undefined;
  readonly forgetAll: () => void;
}

/** By compactor, the one that was asked for last comes last. They go when it does. */
const KNOWN = new WeakMap<Compactor, Known[]>();

/**
 * Returns the conversations of a compactor in a format under such options. What is made anew for each run
 * (functions, a logger) makes no difference: that of the newest call is used.
 */
export function sharedConversations<Message>(
  compactor: Compactor,
  format: MessageFormat<Message>,
  options: CompleteAdapterOptions,
): Conversations<Message> {
  const known = KNOWN.get(compactor) ?? [];
  const plainOptions = plainOptionsOf(options);
  const at = known.findIndex(
    (candidate) => candidate.format === format && isSameValue(candidate.plainOptions, plainOptions),
  );
  const [found] = at === -1 ? [] : known.splice(at, 1);
  const now = found ?? open(new Conversations(compactor, format, options), format, plainOptions);
  known.push(now);
  if (known.length > MAX_OPTION_SETS) known.shift()?.forgetAll();
  KNOWN.set(compactor, known);
  // The format is the same object, so the conversations are in its messages.
  return now.conversations as Conversations<Message>;
}

/**
 * Ends the session of a named conversation that others than these hold, under other options: a name is one
 * conversation of a compactor, format and directory. Users may have the same names in directories of their own.
 * Resolves once it has closed.
 */
export async function takeOver(
  compactor: Compactor,
  format: unknown,
  taker: unknown,
  { conversationId, removalLogDirectory }: NamedConversation,
): Promise<void> {
  const others = (KNOWN.get(compactor) ?? []).filter(
    (known) =>
      known.format === format &&
      known.conversations !== taker &&
      known.plainOptions.removalLogDirectory === removalLogDirectory,
  );
  await Promise.all(others.map(async ({ forget }) => forget(conversationId)));
}

function open<Message>(
  conversations: Conversations<Message>,
  format: MessageFormat<Message>,
  plainOptions: PlainOptions,
): Known {
  return {
    format,
    plainOptions,
    conversations,
    forget: (conversationId) => conversations.forget(conversationId),
    forgetAll: () => {
      conversations.forgetAll();
    },
  };
}

type PlainOptions = Pick<CompleteAdapterOptions, 'removalLogDirectory'>;

function plainOptionsOf({ logger: _, ...options }: CompleteAdapterOptions): PlainOptions {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => typeof value !== 'function'),
  );
}

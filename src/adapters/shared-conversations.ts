// The conversations of a compactor, by format and options: who makes an adapter anew for each run goes on
// with the conversations of the run before.

import type { Compactor } from '../main/compactor.js';
import { isSameValue } from './same-value.js';
import type { AdapterOptions } from './adapter-options.js';
import { Conversations } from './conversations.js';
import type { MessageFormat } from './message-format.js';

/** Sets of options that a compactor remembers conversations for; functions made anew make another set. */
const MAX_OPTION_SETS = 16;

interface Known {
  readonly format: unknown;
  readonly options: AdapterOptions;
  readonly conversations: unknown;
  readonly forget: () => void;
}

/** By compactor, the one that was asked for last comes last. They go when it does. */
const KNOWN = new WeakMap<Compactor, Known[]>();

/**
 * Returns the conversations of a compactor in a format under such options. Functions and instances among
 * these are the same only when they are the same object.
 *
 * @throws RangeError naming each option that is wrong.
 */
export function sharedConversations<Message>(
  compactor: Compactor,
  format: MessageFormat<Message>,
  options: AdapterOptions,
): Conversations<Message> {
  const known = KNOWN.get(compactor) ?? [];
  const at = known.findIndex(
    (candidate) => candidate.format === format && isSameValue(candidate.options, options),
  );
  const [found] = at === -1 ? [] : known.splice(at, 1);
  const now = found ?? open(compactor, format, options);
  known.push(now);
  if (known.length > MAX_OPTION_SETS) known.shift()?.forget();
  KNOWN.set(compactor, known);
  // The format is the same object, so the conversations are in its messages.
  return now.conversations as Conversations<Message>;
}

function open<Message>(
  compactor: Compactor,
  format: MessageFormat<Message>,
  options: AdapterOptions,
): Known {
  const conversations = new Conversations(compactor, format, options);
  return {
    format,
    options,
    conversations,
    forget: () => {
      conversations.forgetAll();
    },
  };
}

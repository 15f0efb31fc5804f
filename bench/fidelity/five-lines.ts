// Plays recorded sessions through the adapters as a newcomer uses them: a compactor with the workspace root, an adapter, no
// options. Each call passes the whole list, as SDKs do; the output is read back and measured like any policy.

import { createCompactor } from '../../src/index.js';
import { isAnswer, modelOfEntry } from '../../src/cli/replay/session-player.js';
import { PROVIDER_PROFILES, validate } from '../../src/validate.js';
import type { IContent } from '../../src/index.js';
import type { Policy } from './policy.js';
import type { RecordedSession } from './recorded-session.js';
import type { SdkRoute } from './sdk-routes.js';

/** The result of one session. */
export interface FiveLines {
  /** Replays what the adapter sent. */
  readonly policy: Policy;
  /** Violations of provider profiles that compaction introduced, once per call and rule. */
  readonly validityErrors: number;
}

/** Plays a session through an adapter, one model call after another. */
export async function playFiveLines<Message extends object>(
  { transcript }: RecordedSession,
  { name, write, read, connect }: SdkRoute<Message>,
): Promise<FiveLines> {
  await using compactor = createCompactor({ workspaceRoot: transcript.workspaceRoot });
  const compact = connect(compactor);
  const messages: Message[] = [];
  /** The entry of each message; an edited message is read once. */
  const entryOf = new WeakMap<Message, IContent>();
  /** Some adapters rebuild joined messages for each call, so these are recognized by content. */
  const readBefore = new Map<string, IContent>();
  const readOnce = (message: Message): IContent => {
    const text = JSON.stringify(message);
    const entry = readBefore.get(text) ?? read(message);
    readBefore.set(text, entry);
    return entry;
  };
  const sent: (readonly IContent[])[] = [];
  let validityErrors = 0;
  for (const [at, entry] of transcript.entries.entries()) {
    if (isAnswer(entry)) {
      const returned = await compact(messages, modelOfEntry(entry));
      const context = returned.map((message) => {
        const known = entryOf.get(message) ?? readOnce(message);
        entryOf.set(message, known);
        return known;
      });
      const isEdited = context.some((each, index) => each !== transcript.entries[index]);
      if (isEdited) validityErrors += brokenRules(transcript.entries.slice(0, at), context);
      sent.push(context);
    }
    const message = write(entry);
    if (message === undefined) continue;
    entryOf.set(message, entry);
    messages.push(message);
  }
  return { policy: replayOf(name, sent), validityErrors };
}

/** Plays a recorded session through a ctxfold session with its defaults. */
export async function playSession({ transcript }: RecordedSession): Promise<FiveLines> {
  await using compactor = createCompactor({ workspaceRoot: transcript.workspaceRoot });
  const session = await compactor.createSession();
  const sent: (readonly IContent[])[] = [];
  let validityErrors = 0;
  for (const [at, entry] of transcript.entries.entries()) {
    if (isAnswer(entry)) {
      const model = modelOfEntry(entry);
      if (model !== undefined) session.history.nameModel(model);
      await session.ensureCompressionBeforeSend(`call ${at}`);
      const context = session.history.getAll();
      const isEdited = context.some((each, index) => each !== transcript.entries[index]);
      if (isEdited) validityErrors += brokenRules(transcript.entries.slice(0, at), context);
      sent.push(context);
    }
    session.history.add(entry);
  }
  return { policy: replayOf('session API', sent), validityErrors };
}

/** Replays recorded requests. */
function replayOf(name: string, sent: readonly (readonly IContent[])[]): Policy {
  const start: Policy['start'] = () => {
    let call = 0;
    return () => sent[call++] ?? [];
  };
  return { name, role: 'own', start };
}

/** How many rules of provider profiles are broken in the second list alone. */
export function brokenRules(before: readonly IContent[], after: readonly IContent[]): number {
  return PROVIDER_PROFILES.reduce((sum, profile) => {
    const known = new Set(validate(before, profile).map(({ rule }) => rule));
    const broken = new Set(validate(after, profile).map(({ rule }) => rule));
    return sum + [...broken].filter((rule) => !known.has(rule)).length;
  }, 0);
}

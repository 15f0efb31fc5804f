// Plays one conversation twice: by one long-lived session, and by a new session per request, which gets the added entries
// and its predecessor's state as JSON.

import type { Compactor } from '../../src/main/compactor.js';
import { createCompactor } from '../../src/main/compactor.js';
import type { CompactorOptions } from '../../src/main/compactor-options.js';
import type { SessionOptions } from '../../src/main/session-options.js';
import type { Session } from '../../src/main/session.js';
import type { SessionState } from '../../src/main/state/session-state.js';
import type { IContent } from '../../src/shared/content.js';

/** Options for both. */
export interface PlayOptions {
  /** Called for each of the two, because a scripted model counts its answers. */
  readonly compactor: () => CompactorOptions;
  readonly session: SessionOptions;
  readonly modelName?: string | undefined;
  /** Reported usage of each request, relative to its counted tokens. */
  readonly reportedRatio?: number | undefined;
  /** Additional reported tokens that the host does not declare. @default the host declares what its requests contain */
  readonly unseenTokens?: number | undefined;
}

/** The entries added before each request: up to each answer of the model, and the rest. */
export function requestsOf(history: readonly IContent[]): readonly (readonly IContent[])[] {
  const requests: IContent[][] = [[]];
  for (const entry of history) {
    const last = requests.at(-1) as IContent[];
    const isAnswer = entry.speaker === 'ai' && last.length > 0 && last.at(-1)?.speaker !== 'ai';
    if (isAnswer) requests.push([entry]);
    else last.push(entry);
  }
  return requests;
}

/** What one session sends for each request. */
export async function playInOne(
  requests: readonly (readonly IContent[])[],
  options: PlayOptions,
  onSession: (session: Session) => void = () => undefined,
): Promise<readonly IContent[][]> {
  await using compactor = createCompactor(options.compactor());
  const session = await compactor.createSession(options.session);
  onSession(session);
  const sent: IContent[][] = [];
  for (const [at, entries] of requests.entries()) {
    sent.push(await request(session, entries, at, options));
  }
  return sent;
}

/** What a new session per request sends. `passOn` may transform the state between them. */
export async function playInMany(
  requests: readonly (readonly IContent[])[],
  options: PlayOptions,
  passOn: (state: SessionState) => SessionState = (state) => state,
  onSession: (session: Session) => void = () => undefined,
): Promise<readonly IContent[][]> {
  const given = options.compactor();
  const raw: IContent[] = [];
  const sent: IContent[][] = [];
  let state: SessionState | undefined;
  for (const [at, entries] of requests.entries()) {
    const compactor: Compactor = createCompactor(given);
    const history = structuredClone(raw);
    const session = await compactor.createSession({ ...options.session, history, state });
    onSession(session);
    sent.push(await request(session, entries, at, options));
    raw.push(...entries);
    state = passOn(JSON.parse(JSON.stringify(session.snapshot())) as SessionState);
    await compactor.close();
  }
  return sent;
}

/** Adds entries and prepares a request. Returns what it sends. */
export async function request(
  session: Session,
  entries: readonly IContent[],
  at: number,
  { modelName, reportedRatio, unseenTokens = 0 }: PlayOptions,
): Promise<IContent[]> {
  if (reportedRatio !== undefined && at > 0) {
    const inputTokens = Math.round(session.history.getTotalTokens() * reportedRatio) + unseenTokens;
    session.reportUsage({ inputTokens, modelName });
  }
  session.history.addAll(entries, modelName);
  try {
    await session.ensureCompressionBeforeSend(`request ${at}`);
  } catch (thrown) {
    if (!(thrown instanceof Error) || thrown.name !== 'ContextWindowExceededError') throw thrown;
  }
  return session.history.getAll();
}

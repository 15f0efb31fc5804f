// ctxfold as a peer: whole turns of a session, from the plain history on.

import { createCompactor } from '../../src/index.js';
import type {
  Compactor,
  CompactorOptions,
  IContent,
  OffloadMode,
  Session,
} from '../../src/index.js';
import type { Peer, PeerSession } from './peer.js';
import { ENDLESS_CONTEXT } from './sessions.js';
import { checkNoFailures } from './turns.js';

/** Where the measured sessions do their work. */
const MODES: readonly OffloadMode[] = ['inline', 'auto', 'resident'];

const NOTE = 'Removes stale reads and repeated inclusions; counts every entry exactly, once.';

export const CTXFOLD_PEERS: readonly Peer[] = [
  ...MODES.map((mode) => ctxfoldPeer(`ctxfold, ${mode}`, NOTE, { offload: mode })),
  ctxfoldPeer(
    'ctxfold, auto, recency pruning',
    `${NOTE} Keeps the newest 3 results of each tool besides (off by default).`,
    { offload: 'auto', settings: { 'compression.density.recencyPruning': true } },
  ),
];

function ctxfoldPeer(name: string, note: string, options: CompactorOptions): Peer {
  return {
    name,
    note,
    isDocumentedPass: options.settings === undefined,
    open: async (history) => new CtxfoldSession(history, options),
  };
}

/** The first turn creates the compactor, its threads and the session. */
class CtxfoldSession implements PeerSession {
  readonly #history: readonly IContent[];
  readonly #options: CompactorOptions;
  #compactor: Compactor | undefined;
  #session: Session | undefined;

  constructor(history: readonly IContent[], options: CompactorOptions) {
    this.#history = history;
    this.#options = options;
  }

  prepareTurn(added: readonly IContent[]): () => Promise<void> {
    return async () => {
      this.#session ??= await this.#start();
      this.#session.history.addAll(added);
      await this.#session.ensureCompressionBeforeSend('turn');
    };
  }

  sent(): readonly IContent[] {
    return this.#session?.history.getAll() ?? [];
  }

  countedTokens(): number | undefined {
    return this.#session?.history.getTotalTokens();
  }

  async close(): Promise<void> {
    if (this.#compactor !== undefined) checkNoFailures(this.#compactor);
    await this.#compactor?.close();
  }

  async #start(): Promise<Session> {
    const limits = { contextLimit: ENDLESS_CONTEXT, workspaceRoot: '/w' };
    this.#compactor = createCompactor({ ...limits, ...this.#options });
    return this.#compactor.createSession({ history: this.#history });
  }
}

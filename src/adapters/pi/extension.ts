// The extension for pi: compacts the messages of each call, stores the edits in pi's session if possible, returns originals from
// pi's session, and shows what it saves. No failure ends a turn.

import type { CompactorOptions } from '../../main/compactor-options.js';
import { asRecord } from '../../shared/json.js';
import { HostCompactor } from '../conversation/host-compactor.js';
import type { HostCall } from '../conversation/host-compactor.js';
import { recalled, RECALL_DESCRIPTION, RECALL_SCHEMA } from '../request/recall-words.js';
import { overheadOf } from '../request/request-overhead.js';
import { fieldsOf, isUnsent, originalIn, usageOf } from './agent-message.js';
import type { PiMessage } from './agent-message.js';
import { agentMessageFormat } from './agent-message-format.js';
import { contextEdits } from './context-edits.js';
import type {
  PiContext,
  PiContextEvent,
  PiExtensionApi,
  PiModel,
  PiOwn,
  PiTurnEndEvent,
} from './extension-api.js';

/** An extension of pi. */
export type PiExtension = (pi: PiExtensionApi) => void;

/**
 * Creates the extension with options of a compactor, for a file of your own in pi's folder of extensions. Without options,
 * `pi install npm:ctxfold` is sufficient.
 *
 * @returns the function that pi calls when it loads the file. Never throws: pi reports invalid options with the first call
 */
export function piExtension(options: CompactorOptions = {}): PiExtension {
  return (pi) => {
    new Extension(pi, options).register();
  };
}

/** The extension with default options. */
export const extension: PiExtension = piExtension();

interface EditedCall {
  readonly given: readonly PiMessage[];
  readonly sent: readonly PiMessage[];
}

class Extension {
  readonly #pi: PiExtensionApi;
  readonly #host: HostCompactor<PiMessage>;
  /** The context of the newest call. */
  #context: PiContext | undefined;
  /** Whether another extension has a tool of the name `recall`. */
  #hasForeignRecall = false;
  #edited: EditedCall | undefined;

  constructor(pi: PiExtensionApi, options: CompactorOptions) {
    this.#pi = pi;
    this.#host = new HostCompactor('pi', agentMessageFormat, () => ({
      workspaceRoot: this.#context?.cwd,
      canRecall: !this.#hasForeignRecall,
      ...options,
    }));
  }

  register(): void {
    const pi = this.#pi;
    pi.on('context', (event, ctx) => this.#compact(event, ctx));
    pi.on('turn_end', (event, ctx) => this.#storeEdits(event, ctx));
    pi.on('session_before_compact', ({ reason }, ctx) => {
      // Pi may still compact at the user's request, after the provider has rejected a request, or if ctxfold is failing. At its threshold
      // it must not: a resumed session may be above that threshold before its first call here.
      const isFailing = this.#host.isFailing(ctx.sessionManager.getSessionId());
      return reason === 'threshold' && !isFailing ? { cancel: true } : undefined;
    });
    pi.on('session_shutdown', () => this.#host.close());
    // Not registered while pi loads its extensions: pi does not start if two of them have a tool of the same name.
    pi.on('session_start', () => {
      const known = pi.getAllTools?.().find(({ name }) => name === 'recall');
      this.#hasForeignRecall = known !== undefined && known.description !== RECALL_DESCRIPTION;
      if (known === undefined) this.#registerRecall();
    });
    pi.registerCommand('ctxfold', {
      description: 'Show what ctxfold has saved in this session',
      handler: async (_args, ctx) => {
        ctx.ui.notify(this.#host.status(ctx.sessionManager.getSessionId()), 'info');
      },
    });
  }

  #registerRecall(): void {
    this.#pi.registerTool({
      name: 'recall',
      label: 'Recall',
      description: RECALL_DESCRIPTION,
      parameters: RECALL_SCHEMA,
      execute: async (_callId, { id }, _signal, _onUpdate, ctx) => ({
        content: [{ type: 'text', text: await recalled(id, (known) => originalOf(known, ctx)) }],
        details: undefined,
      }),
    });
  }

  async #compact(
    { messages }: PiContextEvent,
    ctx: PiContext,
  ): Promise<{ messages: PiOwn[] } | undefined> {
    const host = this.#host;
    this.#context = ctx;
    // `open` may throw: pi shows the error to the user. Only once, because `failure` is set then.
    if (host.failure === undefined) host.open();
    const sessionId = ctx.sessionManager.getSessionId();
    const sent = await host.compact(messages, {
      sessionId,
      signal: ctx.signal,
      overheadTokens: overheadOf(ctx.getSystemPrompt?.(), this.#activeTools()),
      ...(ctx.model !== undefined && modelFacts(ctx.model)),
      ...usageOf(messages),
    });
    const saving = host.saving(sessionId);
    ctx.ui.setStatus('ctxfold', saving && `ctxfold ${saving}`);
    this.#edited = sent === messages ? undefined : { given: messages, sent };
    return sent === messages ? undefined : { messages: sent as PiOwn[] };
  }

  #activeTools(): readonly object[] {
    const active = new Set(this.#pi.getActiveTools?.());
    return (this.#pi.getAllTools?.() ?? []).filter(({ name }) => active.has(name));
  }

  /** Stores the edits in pi's session file, so that after a restart the next call sends the same messages. */
  #storeEdits(
    { message, entries, context }: PiTurnEndEvent,
    { model, sessionManager }: PiContext,
  ): { entries: PiOwn[] } | undefined {
    const { errorMessage } = message as { readonly errorMessage?: unknown };
    if (isUnsent(fieldsOf(message))) {
      const sessionId = sessionManager.getSessionId();
      this.#host.reportRefusal(errorMessage, { sessionId, modelName: model?.id });
    }
    const call = this.#edited;
    this.#edited = undefined;
    if (call === undefined || entries === undefined || context === undefined) return undefined;
    const edits = contextEdits(call.given, call.sent, context.contextEntries);
    return edits.length === 0 ? undefined : { entries: [...entries, ...edits] as PiOwn[] };
  }
}

/**
 * Claude models with adaptive thinking bind reasoning to the messages before it, unless pi has invalidated reasoning dropped. For
 * models of other APIs the session decides.
 */
function modelFacts({ id, api, contextWindow, compat }: PiModel): Omit<HostCall, 'sessionId'> {
  const { forceAdaptiveThinking, supportsMidConvoEffort } = asRecord(compat) ?? {};
  const bindsReasoning = forceAdaptiveThinking === true && supportsMidConvoEffort !== true;
  return {
    modelName: id,
    contextLimit: contextWindow,
    ...(api === 'anthropic-messages' && {
      reasoning: bindsReasoning ? 'strip-after-first-edit' : 'keep',
    }),
  };
}

/** Returns a result from the session file, which has the unedited one. */
function originalOf(id: string, { sessionManager }: PiContext): string | undefined {
  const entries = sessionManager.getBranch?.() ?? sessionManager.getEntries();
  return originalIn(
    entries.map((entry) => asRecord(entry)?.['message']),
    id,
  );
}

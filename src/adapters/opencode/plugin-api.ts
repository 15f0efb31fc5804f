// Types for the parts of OpenCode's plugin API that are used, as of version 1.18.

import type { OpenCodeMessage } from './stored-message.js';

/** Limits of a model, in tokens. */
export interface OpenCodeLimit {
  readonly context: number;
  readonly input?: number | undefined;
  readonly output: number;
}

/** The arguments of a plugin. */
export interface OpenCodeInput {
  readonly directory: string;
  /** OpenCode's own client, whose methods are checked before they are used. */
  readonly client: object;
}

/** A command before it runs. */
interface CommandInput {
  readonly command: string;
  readonly sessionID: string;
}

/** A model call before it is made. */
interface ParamsInput {
  readonly agent: string;
  readonly sessionID: string;
  readonly model: {
    readonly id: string;
    readonly providerID: string;
    readonly limit: OpenCodeLimit;
  };
}

/** The hooks of the plugin. */
export interface OpenCodeHooks {
  readonly config: (config: { command?: object }) => Promise<void>;
  readonly dispose: () => Promise<void>;
  readonly tool: {
    readonly recall: {
      readonly description: string;
      readonly args: Readonly<Record<string, never>>;
      execute(input: object, context: { readonly sessionID: string }): Promise<string>;
    };
  };
  readonly 'chat.params': (input: ParamsInput) => Promise<void>;
  readonly 'tool.definition': (
    input: { readonly toolID: string },
    output: { readonly description: string },
  ) => Promise<void>;
  readonly 'command.execute.before': (
    input: CommandInput,
    output: { readonly parts: object[] },
  ) => Promise<void>;
  readonly 'experimental.session.compacting': (input: {
    readonly sessionID: string;
  }) => Promise<void>;
  readonly 'experimental.chat.messages.transform': (
    input: object,
    output: { readonly messages: OpenCodeMessage[] },
  ) => Promise<void>;
}

/** The default export of a plugin's module. */
export interface OpenCodePlugin {
  readonly id: string;
  readonly server: (
    input: OpenCodeInput,
    options?: Readonly<Record<string, unknown>>,
  ) => Promise<OpenCodeHooks>;
}

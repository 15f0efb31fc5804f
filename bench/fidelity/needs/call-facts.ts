// The facts about a recorded call that needs depend on: its kind, files and command. Uses the pruner's classification, so that
// both agree on what a read is.

import type { AgentPreset, ToolCallBlock } from '../../../src/index.js';
import { callUse } from '../../../src/shared/density/index/call-use.js';
import { CALL_KIND } from '../../../src/shared/density/index/history-columns.js';

/** `command` runs something; a command that only reads, searches or writes has that kind instead. */
export type CallKind = 'edit' | 'read' | 'search' | 'command' | 'other';

export interface CallFacts {
  readonly kind: CallKind;
  readonly paths: readonly string[];
  /** The text of a command, whatever the call's kind. */
  readonly command?: string;
}

const KINDS: Readonly<Record<number, CallKind>> = {
  [CALL_KIND.read]: 'read',
  [CALL_KIND.write]: 'edit',
  [CALL_KIND.search]: 'search',
  [CALL_KIND.command]: 'command',
};

/** Classifies a call by the tool catalog and the text of its command. */
export function callFacts({ toolCatalog }: AgentPreset, call: ToolCallBlock): CallFacts {
  const { kind, paths, command } = callUse((tool) => toolCatalog[tool] ?? [], call, true);
  // The working directory follows the text.
  const [text] = command?.split('\0') ?? [];
  return { kind: KINDS[kind] ?? 'other', paths, ...(text !== undefined && { command: text }) };
}

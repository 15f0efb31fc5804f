// What a call of a recorded session did, as far as needs ask: its kind, the files that it names and its command.
// Told as the pruner tells it, so that both mean the same by a read.

import type { AgentPreset, ToolCallBlock } from '../../../src/index.js';
import { callUse } from '../../../src/shared/density/index/call-use.js';
import { CALL_KIND } from '../../../src/shared/density/index/history-columns.js';

/** `command` is what runs something: a command that only reads, searches or writes counts as that. */
export type CallKind = 'edit' | 'read' | 'search' | 'command' | 'other';

export interface CallFacts {
  readonly kind: CallKind;
  readonly paths: readonly string[];
  /** The text of a command, whatever kind it is. */
  readonly command?: string;
}

const KINDS: Readonly<Record<number, CallKind>> = {
  [CALL_KIND.read]: 'read',
  [CALL_KIND.write]: 'edit',
  [CALL_KIND.search]: 'search',
  [CALL_KIND.command]: 'command',
};

/** What the catalog and the text of its command say of a call. */
export function callFacts({ toolCatalog }: AgentPreset, call: ToolCallBlock): CallFacts {
  const { kind, paths, command } = callUse(toolCatalog[call.name] ?? [], call.parameters, true);
  // Behind the text stands the directory that it runs in.
  const [text] = command?.split('\0') ?? [];
  return { kind: KINDS[kind] ?? 'other', paths, ...(text !== undefined && { command: text }) };
}

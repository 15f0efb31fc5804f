// The outcome of a need under a policy: in view, recoverable through a reference that is in view, or lost.

import type { ContentBlock, IContent } from '../../src/index.js';
import type { Transcript } from '../../src/transcripts.js';
import { callFacts } from './needs/call-facts.js';
import type { Need } from './needs/need.js';
import { shownText } from './visible-lines.js';

export const OUTCOMES = ['inView', 'recoverable', 'lost'] as const;

/**
 * `inView`: every line is shown. `recoverable`: for each missing line, a remaining call or result that showed it names its path,
 * its command, or its recall id. `lost`: neither.
 */
export type Outcome = (typeof OUTCOMES)[number];

/** By call id: texts, any one of which suffices to get the result back. */
export type RecoveryKeys = ReadonlyMap<string, readonly string[]>;

/** The path, the command and the id. A call without path and command, such as a search, is repeated by its parameters. */
export function recoveryKeys({ entries, preset }: Transcript): RecoveryKeys {
  const keys = new Map<string, readonly string[]>();
  for (const { blocks } of entries) {
    for (const block of blocks) {
      if (block.type !== 'tool_call') continue;
      const { paths, command } = callFacts(preset, block);
      const named = command === undefined ? paths : [...paths, command];
      keys.set(block.id, named.length > 0 ? [...named, block.id] : [shownText(block), block.id]);
    }
  }
  return keys;
}

/** What one request shows, of recorded blocks and of those that a policy made. */
export class View {
  readonly #recorded = new Set<ContentBlock>();
  /** Texts of pointers and excerpts that replace recorded blocks. A set, because few texts replace many blocks. */
  readonly #made = new Set<string>();
  readonly #blocks: readonly ContentBlock[];

  /** @param recorded all blocks of the session */
  constructor(context: readonly IContent[], recorded: ReadonlySet<ContentBlock>) {
    this.#blocks = context.flatMap(({ blocks }) => blocks);
    for (const block of this.#blocks) {
      if (recorded.has(block)) this.#recorded.add(block);
      else this.#made.add(textOf(block));
    }
  }

  /** The indexes of the need's lines that nothing shows. */
  missing({ lines, shownBy }: Need): readonly number[] {
    return lines.flatMap((line, at) => (this.#shows(line, shownBy[at] ?? []) ? [] : [at]));
  }

  /** Whether the request names how to get these lines of a need back. */
  isRecoverable({ shownBy }: Need, missing: readonly number[], keys: RecoveryKeys): boolean {
    return missing.every((at) =>
      shownBy[at]?.some((gone) => {
        const id = callIdOf(gone);
        const named = id === undefined ? [] : (keys.get(id) ?? []);
        return this.#blocks.some(
          (block) => callIdOf(block) === id && named.some((key) => names(block, key)),
        );
      }),
    );
  }

  #shows(line: string, shownBy: readonly ContentBlock[]): boolean {
    if (shownBy.some((block) => this.#recorded.has(block))) return true;
    for (const text of this.#made) if (text.includes(line)) return true;
    return false;
  }
}

/** The call that a block is or answers. */
function callIdOf(block: ContentBlock): string | undefined {
  if (block.type === 'tool_call') return block.id;
  return block.type === 'tool_response' ? block.callId : undefined;
}

/** Whether a block mentions a path, a command or an id, JSON-escaped or not. */
function names(block: ContentBlock, key: string): boolean {
  const text = textOf(block);
  return text.includes(key) || text.includes(JSON.stringify(key).slice(1, -1));
}

const TEXTS = new WeakMap<ContentBlock, string>();

function textOf(block: ContentBlock): string {
  let text = TEXTS.get(block);
  if (text === undefined) {
    text = shownText(block);
    TEXTS.set(block, text);
  }
  return text;
}

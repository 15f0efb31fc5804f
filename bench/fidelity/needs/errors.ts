// Needs of open errors: what a command that failed said, until the same command passes. It is looked at when the
// command is run again, which shows that the agent was not done with it.

import type { ContentBlock, ToolResponseBlock } from '../../../src/index.js';
import type { Transcript } from '../../../src/transcripts.js';
import { shownLines } from '../replaced-texts.js';
import { shownText } from '../visible-lines.js';
import { callFacts } from './call-facts.js';
import type { Need } from './need.js';
import type { ShownBefore } from './shown-before.js';

const FAILURE_LINE =
  /\b(?:errors?|fail(?:s|ed|ures?|ing)?|exception|panic(?:ked)?|assert\w*|traceback|cannot|undefined|unexpected|expected|not found)\b/i;
/** As agents write the code that a command ended with into its output. */
const EXIT_CODE = /(?:\bexit(?:ed with)? code:?\s*|<returncode>|"exit_code":\s*)(-?\d+)/i;
/** The code stands in the first or the last lines. */
const EXIT_CODE_REACH = 400;
/** So many lines of an error are looked for: the first that tell of a failure, else the last. */
const MAX_LINES = 5;
/** What changes the output of a command and not what is run. */
const DECORATION = /^\s*cd\s+\S+\s*&&\s*|\s*2>&1|\s*\|\s*(?:tail|head)\b[^|]*$/g;

/**
 * One need for each failure of a command that was run again in the same context. A command that reads or searches has
 * no failures: one that finds nothing says so by its exit code. What is decoration, as `| tail -20`, makes no other command.
 */
export function errorNeeds({ entries, preset }: Transcript, shown: ShownBefore): readonly Need[] {
  const commandOf = new Map<string, string>();
  /** By command, its failure that is open. */
  const open = new Map<string, ToolResponseBlock>();
  const needs: Need[] = [];
  entries.forEach(({ blocks }, entry) => {
    for (const block of blocks) {
      if (block.type === 'tool_call') {
        const { kind, command } = callFacts(preset, block);
        if (kind !== 'command' || command === undefined) continue;
        const core = command.replace(DECORATION, '').trim();
        const failure = open.get(core);
        commandOf.set(block.id, core);
        if (failure !== undefined) needs.push(...errorNeed(failure, entry, block, shown));
      } else if (block.type === 'tool_response') {
        const command = commandOf.get(block.callId);
        if (command === undefined) continue;
        if (hasFailed(block)) open.set(command, block);
        else open.delete(command);
      }
    }
  });
  return needs;
}

/** Whether a result tells that its command failed: as an error, or by an exit code other than 0. */
export function hasFailed(response: ToolResponseBlock): boolean {
  if (response.error !== undefined) return true;
  const text = shownText(response);
  const code =
    EXIT_CODE.exec(text.slice(0, EXIT_CODE_REACH)) ?? EXIT_CODE.exec(text.slice(-EXIT_CODE_REACH));
  return code !== null && Number(code[1]) !== 0;
}

function errorNeed(
  failure: ToolResponseBlock,
  entry: number,
  again: ContentBlock & { readonly type: 'tool_call' },
  shown: ShownBefore,
): readonly Need[] {
  const all = shownLines(shownText(failure));
  const telling = all.filter((line) => FAILURE_LINE.test(line)).slice(0, MAX_LINES);
  const lines = telling.length > 0 ? telling : all.slice(-MAX_LINES);
  if (lines.length === 0) return [];
  const shownBy = lines.map((line) => shown.holders(line, entry));
  const subject = { entry, callId: again.id, tool: again.name, file: '' };
  return [{ kind: 'error', ...subject, weight: 1, lines, shownBy }];
}

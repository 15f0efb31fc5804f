// Needs of open errors: the output of a failed command, until the same command passes. The need is checked when the command is
// run again, which shows that the agent still cared.

import type { ContentBlock, ToolResponseBlock } from '../../../src/index.js';
import type { Transcript } from '../../../src/transcripts.js';
import { shownLines } from '../replaced-texts.js';
import { shownText } from '../visible-lines.js';
import { callFacts } from './call-facts.js';
import type { Need } from './need.js';
import type { ShownBefore } from './shown-before.js';

const FAILURE_LINE =
  /\b(?:errors?|fail(?:s|ed|ures?|ing)?|exception|panic(?:ked)?|assert\w*|traceback|cannot|undefined|unexpected|expected|not found)\b/i;
/** The exit code as agents append it to a command's output. */
const EXIT_CODE = /(?:\bexit(?:ed with)? code:?\s*|<returncode>|"exit_code":\s*)(-?\d+)/i;
/** The code is within this many characters of the start or end. */
const EXIT_CODE_REACH = 400;
/** At most this many lines of an error have to be in view: the first that mention a failure, else the last. */
const MAX_LINES = 5;
/** Parts that change a command's output but not what it runs. */
const DECORATION = /^\s*cd\s+\S+\s*&&\s*|\s*2>&1|\s*\|\s*(?:tail|head)\b[^|]*$/g;

/**
 * One need for each failure of a command that was run again in the same context. Reads and searches have no failures, because
 * their exit code may only mean that nothing was found. Decoration such as `| tail -20` does not make a different command.
 */
export function errorNeeds({ entries, preset }: Transcript, shown: ShownBefore): readonly Need[] {
  const commandOf = new Map<string, string>();
  /** By command, its open failure. */
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

/** Whether a result reports a failed command: an error, or an exit code other than 0. */
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

// OpenAI's own tools that the application runs: the shells, the patch tool and the computer. Reads their calls like calls of
// functions, and replaces their outputs in the shape that the API requires. Both item formats have the same fields.

import { toolCall } from '../../shared/content.js';
import type { ContentBlock } from '../../shared/content.js';
import { asArray, asFilledText, asRecord, asText, errorLine } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { Outcome } from '../format/blocks.js';
import { fixedIf } from '../format/placed.js';
import { SCREENSHOT, withoutPicture } from '../format/screenshot.js';

/** Kinds of items with calls of these tools; `BUILT_IN_OUTPUTS` are the kinds with their outputs. */
export const BUILT_IN_CALLS: ReadonlySet<string> = new Set([
  'shell_call',
  'local_shell_call',
  'apply_patch_call',
  'computer_call',
]);
export const BUILT_IN_OUTPUTS: ReadonlySet<string> = new Set([
  ...Array.from(BUILT_IN_CALLS, (kind) => `${kind}_output`),
  'computer_call_result',
]);

/**
 * Returns an item's call with a tool name and parameters that the tool catalog knows; `undefined` if the provider runs it itself. The
 * parameters are fixed, because the item states them in another form.
 */
export function builtInCall(item: JsonRecord, id: string): ContentBlock | undefined {
  const action = asRecord(item['action']);
  if (item['type'] === 'computer_call') {
    const { action: single, actions = [single] } = item;
    return { ...toolCall(id, 'computer', { actions }), ...fixedIf(true) };
  }
  if (item['type'] === 'local_shell_call') {
    return { ...toolCall(id, 'local_shell', action ?? {}), ...fixedIf(true) };
  }
  if (action !== undefined) {
    const environment = asRecord(item['environment']) ?? { type: 'local' };
    if (environment['type'] !== 'local') return undefined;
    const commands = asArray(action['commands']).filter((text) => typeof text === 'string');
    return { ...toolCall(id, 'shell', { command: commands.join('\n') }), ...fixedIf(true) };
  }
  const { type, path, diff } = asRecord(item['operation']) ?? {};
  const heading = HEADINGS.get(type);
  if (heading === undefined || typeof path !== 'string') return undefined;
  const patch = `*** Begin Patch\n*** ${heading} File: ${path}\n${asText(diff) ?? ''}\n*** End Patch`;
  return { ...toolCall(id, 'apply_patch', { input: patch }), ...fixedIf(true) };
}

const HEADINGS: ReadonlyMap<unknown, string> = new Map([
  ['create_file', 'Add'],
  ['update_file', 'Update'],
  ['delete_file', 'Delete'],
]);

/** Returns the text of an output, and as `error` the first line of a failure, `timeout` or the exit code. */
export function readBuiltInOutput({ type, output, status }: JsonRecord): Outcome {
  if (isOfComputer(type)) return SCREENSHOT;
  if (!Array.isArray(output)) {
    const result = asText(output) ?? '';
    return status === 'failed' ? { result, error: errorLine(result) || 'failed' } : { result };
  }
  const runs = asArray(output).map((run) => asRecord(run) ?? {});
  const result = runs
    .map(textOfRun)
    .filter((text) => text !== '')
    .join('\n');
  const failed = runs.map(failureOf).findLast((failure) => failure !== undefined);
  return failed === undefined ? { result } : { result, error: failed };
}

function textOfRun({ stdout, stderr }: JsonRecord): string {
  return [stdout, stderr]
    .map(asFilledText)
    .filter((text) => text !== undefined)
    .join('\n');
}

function failureOf({ outcome }: JsonRecord): string | undefined {
  const { type, exit_code: code, exitCode = code } = asRecord(outcome) ?? {};
  if (type === 'timeout') return 'timeout';
  return typeof exitCode === 'number' && exitCode !== 0 ? `exit code ${exitCode}` : undefined;
}

function isOfComputer(type: unknown): boolean {
  return type === 'computer_call_output' || type === 'computer_call_result';
}

/**
 * Returns an output with another text. If it is a list of the outputs of commands, only the last one stays, with the text. A screenshot
 * cannot be a text: its place takes a picture that says so.
 */
export function withBuiltInOutput({ type, output }: JsonRecord, text: string): unknown {
  if (isOfComputer(type)) return withoutPicture(asRecord(output) ?? {});
  const last = asRecord(asArray(output).at(-1));
  return last === undefined ? text : [{ ...last, stdout: text, stderr: '' }];
}

// The texts that a model sees of the tool `recall`, which returns results that were removed from its conversation: shared by the
// AI SDK and the plugins of hosts. Looks nothing up.

import { shownId } from '../../shared/shown-text.js';

export const RECALL_DESCRIPTION: string =
  'Returns the full original result of an earlier tool call that was shortened to a placeholder to save ' +
  'space, such as [read_file: src/a.ts — success, 120 lines; recall("call_1") for the original]. Use it ' +
  'when you need details that the placeholder does not have, instead of running that tool again. It gives ' +
  'what the tool answered back then: to learn how things are now, run the tool again instead.';

export const RECALL_ID_DESCRIPTION =
  'The id that the placeholder has in quotes, without the quotes.';

/** The answer to a call without an id. */
export const NO_RECALL_ID = 'Nothing was recalled: give the id of a tool call as `id`, a text.';

/** The answer to a call. @param find returns the text of the original, `undefined` if there is none */
export async function recalled(
  id: unknown,
  find: (id: string) => string | undefined | Promise<string | undefined>,
): Promise<string> {
  if (typeof id !== 'string') return NO_RECALL_ID;
  return (await find(id)) ?? adviceForAbsent(id);
}

/** JSON Schema of the tool's input. */
export const RECALL_SCHEMA: Readonly<Record<string, unknown>> = {
  type: 'object',
  properties: { id: { type: 'string', description: RECALL_ID_DESCRIPTION } },
  required: ['id'],
  additionalProperties: false,
};

/** The answer for an unknown id. */
export function adviceForAbsent(id: string): string {
  return (
    `No original is on record for ${shownId(id)}. If its result stands in the conversation, read it there; ` +
    'else check the id against the placeholder, or run the tool again.'
  );
}

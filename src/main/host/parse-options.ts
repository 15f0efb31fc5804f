// Options that a schema describes, and how it is told what is wrong with them.

import { z } from 'zod';
import { readOptions } from '../../shared/misuse.js';
import { nearestName } from '../../shared/nearest-name.js';
import { shownText } from '../../shared/shown-text.js';

/**
 * Checks options and fills in the defaults of the schema.
 *
 * @param name what they are called in messages
 * @throws TypeError for what is no object that can be read; RangeError that names each option that is wrong.
 */
export function parseOptions<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  options: object,
): z.output<Schema> {
  const given = readOptions(name, options);
  let message: string;
  try {
    const parsed = schema.safeParse(given);
    if (parsed.success) return parsed.data;
    message = [z.prettifyError(parsed.error), ...meantNames(schema, parsed.error)].join('\n');
  } catch (cause) {
    throw new TypeError(`Expected ${name} that can be read; one of them threw.`, { cause });
  }
  throw new RangeError(`Invalid ${name}.\n${message}`);
}

/** What misspelt options are likely to be meant for. */
function meantNames(schema: z.ZodType, { issues }: z.ZodError): readonly string[] {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return issues
    .flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []))
    .flatMap((key) => {
      const meant = nearestName(key, known);
      return meant === undefined ? [] : [`Did you mean '${meant}' by ${shownText(key)}?`];
    });
}

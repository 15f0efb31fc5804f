// Options that a schema describes, and how it is told what is wrong with them.

import { z } from 'zod';
import { readOptions } from '../../shared/misuse.js';

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
    message = z.prettifyError(parsed.error);
  } catch (cause) {
    throw new TypeError(`Expected ${name} that can be read; one of them threw.`, { cause });
  }
  throw new RangeError(`Invalid ${name}.\n${message}`);
}

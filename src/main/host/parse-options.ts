// Validates options against a schema, with readable messages.

import { z } from 'zod';
import { readOptions } from '../../shared/misuse.js';
import { nearestName, shownText } from '../../shared/shown-text.js';

/**
 * Validates options and fills in the schema's defaults.
 *
 * @param name what messages call them
 * @throws TypeError if they cannot be read as an object; RangeError that names each invalid option.
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
    message = [z.prettifyError(parsed.error), ...suggestedNames(schema, parsed.error)].join('\n');
  } catch (cause) {
    throw new TypeError(`Expected ${name} that can be read; one of them threw.`, { cause });
  }
  throw new RangeError(`Invalid ${name}.\n${message}`);
}

/** Suggestions for misspelt option names. */
function suggestedNames(schema: z.ZodType, { issues }: z.ZodError): readonly string[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [];
    const known = namesAt(schema, issue.path);
    return issue.keys.flatMap((key) => {
      const meant = nearestName(key, known);
      return meant === undefined ? [] : [`Did you mean '${meant}' by ${shownText(key)}?`];
    });
  });
}

/** The property names that the schema allows at a path. */
function namesAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let at = schema;
  for (const key of [...path, undefined]) {
    while (at instanceof z.ZodOptional || at instanceof z.ZodDefault) at = at.unwrap();
    if (key === undefined) break;
    if (at instanceof z.ZodObject) at = (at.shape as Readonly<Record<PropertyKey, unknown>>)[key];
    else if (at instanceof z.ZodRecord) at = at.valueType;
    else if (at instanceof z.ZodArray) at = at.element;
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

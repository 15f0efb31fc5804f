// Validates options against a schema, with readable messages.

import { en } from 'zod/locales';
import * as z from 'zod/mini';
import { listOfOptions, readOptions, suggestedOption } from '../../shared/misuse.js';
import type { OptionsElsewhere } from '../../shared/misuse.js';
import { shownText } from '../../shared/shown-text.js';

/** Passed with each call, because zod's own locale setting is global to the process and belongs to the host. */
export const ENGLISH: { readonly error: z.core.$ZodErrorMap } = { error: en().localeError };

/**
 * Validates options and fills in the schema's defaults.
 *
 * @param name what error messages call the options
 * @throws TypeError if they cannot be read as an object; RangeError that names each invalid option.
 */
export function parseOptions<Schema extends z.ZodMiniType>(
  name: string,
  schema: Schema,
  options: object,
  elsewhere?: OptionsElsewhere,
): z.output<Schema> {
  const given = readOptions(name, options);
  let message: string;
  try {
    const parsed = schema.safeParse(given, ENGLISH);
    if (parsed.success) return parsed.data;
    const suggestions = suggestionsFor(schema, parsed.error, elsewhere);
    message = [z.prettifyError(parsed.error), ...suggestions].join('\n');
  } catch (cause) {
    throw new TypeError(`Expected ${name} that can be read; one of them threw.`, { cause });
  }
  throw new RangeError(`Invalid ${name}.\n${message}`);
}

/** Returns a line for each unknown option name: what it was probably meant for, else the known ones. */
function suggestionsFor(
  schema: z.ZodMiniType,
  { issues }: z.core.$ZodError,
  elsewhere?: OptionsElsewhere,
): readonly string[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [];
    const known = namesAt(schema, issue.path);
    return issue.keys.map((key) => {
      const suggestion = suggestedOption(key, known, issue.path.length === 0 ? elsewhere : {});
      return suggestion === undefined
        ? listOfOptions(known)
        : `By ${shownText(key)}, ${suggestion}`;
    });
  });
}

/** Returns the property names that the schema allows at a path. */
function namesAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let at = schema;
  for (const key of [...path, undefined]) {
    while (at instanceof z.ZodMiniOptional || at instanceof z.ZodMiniDefault) at = at.def.innerType;
    if (key === undefined) break;
    if (at instanceof z.ZodMiniObject)
      at = (at.shape as Readonly<Record<PropertyKey, unknown>>)[key];
    else if (at instanceof z.ZodMiniRecord) at = at.def.valueType;
    else if (at instanceof z.ZodMiniArray) at = at.def.element;
  }
  return at instanceof z.ZodMiniObject ? Object.keys(at.shape) : [];
}

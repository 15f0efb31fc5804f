// Validates options against a schema, with readable messages.

import { en } from 'zod/locales';
import * as z from 'zod/mini';
import { kindOf, readOptions, unknownOptions } from '../../shared/misuse.js';
import type { OptionsElsewhere } from '../../shared/misuse.js';

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
  /** What is wrong, and what was given instead; not of texts that are too short or too long, which may be secrets. */
  const messageOf = (issue: z.core.$ZodIssue): string => {
    const { message, path } = issue;
    if (issue.code === 'unrecognized_keys')
      return unknownOptions(issue.keys, namesAt(schema, path), path.length === 0 ? elsewhere : {});
    // Sentences are messages of our own, which say what was given.
    if (message.endsWith('.') || ('origin' in issue && issue.origin === 'string')) return message;
    let value: unknown = given;
    for (const key of path) value = (value as Readonly<Record<PropertyKey, unknown>>)[key];
    return `${message.replace(/, received \w+$/, '')}, got ${kindOf(value)}`;
  };
  let message: string;
  try {
    const parsed = schema.safeParse(given, ENGLISH);
    if (parsed.success) return parsed.data;
    const issues = parsed.error.issues.map((issue) => ({ ...issue, message: messageOf(issue) }));
    message = z.prettifyError({ issues });
  } catch (cause) {
    throw new TypeError(`Expected ${name} that can be read; one of them threw.`, { cause });
  }
  throw new RangeError(`Invalid ${name}.\n${message}`);
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

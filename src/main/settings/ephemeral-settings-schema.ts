// Settings as part of a larger schema. Separate from the parser, which users import: the parser's declarations must not refer to
// zod, because zod is bundled.

import * as z from 'zod/mini';
import type { EphemeralSettings } from './ephemeral-settings.js';
import { checkEphemeralSettings } from './parse-ephemeral-settings.js';

/** Accepts what `parseEphemeralSettings` accepts. */
export const EPHEMERAL_SETTINGS_SCHEMA: z.ZodMiniType<EphemeralSettings> = z.pipe(
  z.unknown(),
  z.transform((value, context): EphemeralSettings => {
    const { settings, problems } = checkEphemeralSettings(value);
    for (const { message } of problems) {
      context.issues.push({ code: 'custom', message, input: value });
    }
    return settings;
  }),
);

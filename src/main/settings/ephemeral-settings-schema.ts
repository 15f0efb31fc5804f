// Settings as part of a larger schema. Apart from their parser, which users import: its declarations may not name zod, which is
// bundled.

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

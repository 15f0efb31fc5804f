// Settings as part of a larger schema. Apart from their parser, which users import: its declarations may not name zod, which is
// bundled.

import { z } from 'zod';
import type { EphemeralSettings } from './ephemeral-settings.js';
import { checkEphemeralSettings } from './parse-ephemeral-settings.js';

/** Accepts what `parseEphemeralSettings` accepts. */
export const EPHEMERAL_SETTINGS_SCHEMA: z.ZodType<EphemeralSettings> = z
  .unknown()
  .transform((value, context): EphemeralSettings => {
    const { settings, problems } = checkEphemeralSettings(value);
    for (const { message } of problems) context.addIssue({ code: 'custom', message });
    return settings;
  });

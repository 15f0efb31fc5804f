// Where a browser is, for tests of pages: a Chromium that is installed, or the one that the variable CHROMIUM_PATH names.

import { existsSync } from 'node:fs';

const PLACES = [
  process.env['CHROMIUM_PATH'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The browser, where there is one. */
export const CHROMIUM_PATH: string | undefined = PLACES.find(
  (place) => place !== '' && existsSync(place),
);

/** What the name of a skipped test says. */
export const CHROMIUM_MISSING: string =
  CHROMIUM_PATH === undefined ? ': none was found, set CHROMIUM_PATH' : '';

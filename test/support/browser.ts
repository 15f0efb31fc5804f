// Locates a browser for tests of pages: an installed Chromium, or the one in CHROMIUM_PATH.

import { existsSync } from 'node:fs';

const PLACES = [
  process.env['CHROMIUM_PATH'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Path of the browser, if there is one. */
export const CHROMIUM_PATH: string | undefined = PLACES.find(
  (place) => place !== '' && existsSync(place),
);

/** A suffix for the names of skipped tests. */
export const CHROMIUM_MISSING: string =
  CHROMIUM_PATH === undefined ? ': none was found, set CHROMIUM_PATH' : '';

// Runs examples as their readers do.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { length } from '../support/scale.js';

/** As many messages of recorded sessions an example goes on with; its readers see 500. */
export const HISTORY_MESSAGES: number = length(500);

/** Runs an example, with neither provider nor key but those given, to its end; returns what it printed. */
export async function runExample(
  example: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { PROVIDER_URL: _, OPENAI_API_KEY: __, ...inherited } = process.env;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [example], {
    env: { ...inherited, HISTORY_MESSAGES: String(HISTORY_MESSAGES), ...environment },
    timeout: 120_000,
  });
  expect(stderr).toBe('');
  return stdout;
}

/** The numbers of the lines that begin with this label. */
export function numbersBehind(label: string, output: string): number[] {
  return Array.from(output.matchAll(new RegExp(`^${label}: (\\d+)`, 'gm')), ([, number]) =>
    Number(number),
  );
}

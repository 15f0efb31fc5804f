// Runs examples like their readers do.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { length } from '../support/scale.js';

/** Number of recorded messages in front of an example's task; 500 for readers. */
export const HISTORY_MESSAGES: number = length(500);

/** Runs an example to its end, without any other provider or key than the given ones; returns its output. */
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

/** The numbers in the lines that begin with a label. */
export function numbersBehind(label: string, output: string): number[] {
  return Array.from(output.matchAll(new RegExp(`^${label}: (\\d+)`, 'gm')), ([, number]) =>
    Number(number),
  );
}

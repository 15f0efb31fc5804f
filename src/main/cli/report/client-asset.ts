// The script and the style sheet of the page, as the build left them.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** A script and its style sheet. Neither contains text that would close its element. */
export interface ClientAsset {
  readonly script: string;
  readonly style: string;
}

/** Reads the script, which the build puts beside the compiled code. */
export async function readClientAsset(): Promise<ClientAsset> {
  const text = await readFile(new URL('./client.json', import.meta.url), 'utf8');
  return JSON.parse(text) as ClientAsset;
}

/** Reads the style sheet, without comments and formatting. */
export async function readPageStyle(): Promise<string> {
  const text = await readFile(new URL('./report.css', import.meta.url), 'utf8');
  return text
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};]) ?/g, '$1');
}

/** Returns the hash by which a content security policy allows an inline script or style. */
export function policyHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

// What the build made of the script that draws the chart. Read only when a page is made.

import { readFile } from 'node:fs/promises';

/** A script and the style sheet that goes with it; neither holds what would end its element. */
export interface ClientAsset {
  readonly script: string;
  readonly style: string;
}

/** Reads the script of the page, which the build puts beside the compiled code. */
export async function readClientAsset(): Promise<ClientAsset> {
  const text = await readFile(new URL('./client.json', import.meta.url), 'utf8');
  return JSON.parse(text) as ClientAsset;
}

/** Reads the style sheet of the page, without its comments and its layout. */
export async function readPageStyle(): Promise<string> {
  const text = await readFile(new URL('./report.css', import.meta.url), 'utf8');
  return text
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};]) ?/g, '$1');
}

// The two versions of the AI SDK that the adapter serves, to run the same test with both. That their types take
// the adapter, each in its own way, is for `accepted-types.test.ts` to show.

import * as six from 'ai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ScriptedProvider } from '../../../examples/support/scripted-provider.js';

/** What tests use of an SDK. */
export type Sdk = Pick<
  typeof six,
  | 'generateText'
  | 'streamText'
  | 'stepCountIs'
  | 'tool'
  | 'jsonSchema'
  | 'wrapLanguageModel'
  | 'ToolLoopAgent'
  | 'convertToModelMessages'
>;

/** Version 7, for what is in no other; `undefined` when it does not run on this Node.js. */
export const seven = await import('ai-v7').catch((error: unknown) => {
  process.stderr.write(`ai@7 is not tested: ${String(error)}\n`);
  return undefined;
});

/** By name, each version; `undefined` when it does not run on this Node.js. */
export const SDK_VERSIONS: readonly (readonly [name: string, sdk: Sdk | undefined])[] = [
  ['ai@6', six],
  ['ai@7', seven as unknown as Sdk | undefined],
];

/** A model that is served in OpenAI's way. */
export function chatModel({ url }: ScriptedProvider) {
  return createOpenAICompatible({ name: 'loopback', baseURL: `${url}/v1` }).chatModel('scripted');
}

/** A model that is served in Anthropic's way. */
export function claude({ url }: ScriptedProvider) {
  return createAnthropic({ baseURL: `${url}/v1`, apiKey: 'none' })('claude-scripted');
}

/** File tools over a map. */
export function mapTools({ tool, jsonSchema }: Sdk, files = new Map<string, string>()) {
  const schema = <T>(...required: string[]) => {
    const properties = Object.fromEntries(
      required.map((key) => [key, { type: 'string' as const }]),
    );
    return jsonSchema<T>({ type: 'object', properties, required });
  };
  return {
    read_file: tool({
      description: 'Returns the text of a file.',
      inputSchema: schema<{ file_path: string }>('file_path'),
      execute: ({ file_path }) => files.get(file_path) ?? `text of ${file_path}\n`.repeat(40),
    }),
    write_file: tool({
      description: 'Writes a file.',
      inputSchema: schema<{ file_path: string; content: string }>('file_path', 'content'),
      execute: ({ file_path, content }) => {
        files.set(file_path, content);
        return `Wrote ${file_path}.`;
      },
    }),
  };
}

// OpenCode, and its fork Kilo, which loads the same plugin, as clients of the host check.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import type { Client } from './client.js';

/** The provider for each API: its id, the package bundled with OpenCode, and the path of its base URL. */
const PROVIDERS: Readonly<Record<ProviderApi, readonly [id: string, npm: string, path: string]>> = {
  'openai-chat': ['loopback', '@ai-sdk/openai-compatible', '/v1'],
  'openai-responses': ['openai', '@ai-sdk/openai', '/v1'],
  anthropic: ['anthropic', '@ai-sdk/anthropic', '/v1'],
  gemini: ['google', '@ai-sdk/google', '/v1beta'],
};

/** Names that differ in Kilo. */
interface Names {
  readonly name: string;
  /** The program's package, without the platform suffix. */
  readonly program: string;
  /** The package of the plugin interface. */
  readonly port: string;
}

const clientOf = ({ name, program, port }: Names, plays: Client['plays']): Client => ({
  name,
  thinks: false,
  goesOn: true,
  failsAfterRefusal: true,
  plays,
  tools: {
    read: (filePath) => ({ name: 'read', input: { filePath } }),
    edit: (filePath, oldString, newString) => ({
      name: 'edit',
      input: { filePath, oldString, newString },
    }),
    run: (command) => ({ name: 'bash', input: { command, description: 'Looks further' } }),
  },
  configure({ home, url, api, contextWindow, plugin }) {
    const folder = join(home, '.config', name);
    mkdirSync(folder, { recursive: true });
    // At each start it would install its plugin package from the registry and wait for it. These files make it skip that.
    mkdirSync(join(folder, 'node_modules'));
    const dependencies = { [port]: '*' };
    const lock = { lockfileVersion: 3, packages: { '': { dependencies } } };
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    const [id, npm, path] = PROVIDERS[api];
    const limit = { context: contextWindow, output: 8_000 };
    const models = { scripted: { name: 'scripted', tool_call: true, limit } };
    const options = { baseURL: `${url}${path}`, apiKey: 'made-up' };
    writeFileSync(
      join(folder, 'opencode.json'),
      JSON.stringify({
        provider: { [id]: { npm, name: id, options, models } },
        model: `${id}/scripted`,
        small_model: `${id}/scripted`,
        permission: { '*': 'allow' },
        autoupdate: false,
        share: 'disabled',
        snapshot: false,
        lsp: false,
        formatter: false,
        plugin: plugin === undefined ? [] : [`file://${plugin}`],
      }),
    );
  },
  run({ installed }, prompt, goesOn) {
    const packageName = `${program}-${process.platform}-${process.arch}`;
    const prefix = name.toUpperCase();
    return {
      command: join(installed, 'node_modules', packageName, 'bin', name),
      args: ['run', ...(goesOn ? ['--continue'] : []), prompt],
      env: { [`${prefix}_DISABLE_MODELS_FETCH`]: '1', [`${prefix}_DISABLE_AUTOUPDATE`]: '1' },
    };
  },
});

export const opencode: Client = clientOf(
  { name: 'opencode', program: 'opencode', port: '@opencode-ai/plugin' },
  [
    { way: 'plugin', api: 'openai-chat', isLong: true },
    { way: 'none', api: 'openai-chat', isLong: true },
    {
      way: 'gateway',
      api: 'openai-chat',
      isLong: true,
      window: 40_000,
      ownCompaction: 'once or more',
    },
    { way: 'plugin', api: 'anthropic', ownCompaction: 'after a refusal' },
    { way: 'plugin', api: 'openai-chat', isLong: true, window: 40_000 },
    { way: 'plugin', api: 'openai-responses' },
    {
      way: 'none',
      api: 'openai-chat',
      isLong: true,
      window: 40_000,
      ownCompaction: 'once or more',
    },
    { way: 'plugin', api: 'gemini' },
  ],
);

export const kilo: Client = clientOf(
  { name: 'kilo', program: '@kilocode/cli', port: '@kilocode/plugin' },
  [
    { way: 'plugin', api: 'openai-chat', isLong: true },
    { way: 'none', api: 'openai-chat', isLong: true },
    { way: 'plugin', api: 'anthropic', ownCompaction: 'after a refusal' },
  ],
);

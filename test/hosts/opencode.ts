// OpenCode, and Kilo, which is built from it and loads the same plugin, as clients in the check of hosts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import type { Client } from './client.js';

/** The provider of each API: its id, the package that OpenCode brings along, and the path that its base URL ends with. */
const PROVIDERS: Readonly<Record<ProviderApi, readonly [id: string, npm: string, path: string]>> = {
  'openai-chat': ['loopback', '@ai-sdk/openai-compatible', '/v1'],
  'openai-responses': ['openai', '@ai-sdk/openai', '/v1'],
  anthropic: ['anthropic', '@ai-sdk/anthropic', '/v1'],
  gemini: ['google', '@ai-sdk/google', '/v1beta'],
};

/** What Kilo calls otherwise. */
interface Names {
  readonly name: string;
  /** The package of the program, without the platform. */
  readonly program: string;
  /** The package of the plugin port. */
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
    // It wants a package of its own from the registry, and would wait for it at each start: it looks for no more than this.
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

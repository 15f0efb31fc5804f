// GitHub's Copilot CLI with a custom provider, as a client of the host check, through the gateway.

import { join } from 'node:path';

import type { Client } from './client.js';

const PROVIDERS = {
  anthropic: { COPILOT_PROVIDER_TYPE: 'anthropic', COPILOT_MODEL: 'claude-sonnet-4-5' },
  'openai-responses': { COPILOT_PROVIDER_WIRE_API: 'responses', COPILOT_MODEL: 'scripted' },
  'openai-chat': { COPILOT_MODEL: 'qwen3' },
} as const;

export const copilot: Client = {
  name: 'copilot',
  thinks: true,
  goesOn: true,
  takesWholePaths: true,
  plays: [
    { way: 'gateway', api: 'anthropic', isLong: true },
    { way: 'none', api: 'anthropic', isLong: true },
    { way: 'gateway', api: 'openai-chat', isLong: true },
    { way: 'none', api: 'openai-chat', isLong: true },
    { way: 'gateway', api: 'openai-responses', isLong: true },
    { way: 'none', api: 'openai-responses', isLong: true },
    {
      way: 'gateway',
      api: 'anthropic',
      isLong: true,
      window: 40_000,
      ownCompaction: 'once or more',
    },
  ],
  tools: {
    read: (path) => ({ name: 'view', input: { path } }),
    edit: (path, old_str, new_str) => ({ name: 'edit', input: { path, old_str, new_str } }),
    run: (command) => ({ name: 'bash', input: { command, description: 'Looks further.' } }),
  },
  configure() {
    // The provider is set in the environment.
  },
  run({ installed, node, url, api, contextWindow }, prompt, goesOn) {
    const cli = join(installed, 'node_modules/.bin/copilot');
    const options = ['--allow-all-tools', '--no-auto-update', ...(goesOn ? ['--continue'] : [])];
    return {
      command: node,
      args: [cli, '-p', prompt, ...options],
      env: {
        ...PROVIDERS[api as keyof typeof PROVIDERS],
        COPILOT_PROVIDER_BASE_URL: api === 'anthropic' ? url : `${url}/v1`,
        COPILOT_PROVIDER_API_KEY: 'made-up',
        COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(contextWindow),
        COPILOT_OFFLINE: 'true',
      },
    };
  },
};

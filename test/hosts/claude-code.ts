// Claude Code, as a client in the check of hosts. No hook of it sees the history: it plays through the gateway.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Client } from './client.js';

/** It fills this one, and summarizes: its own prompt and tools are half of it. */
const SMALL_WINDOW = 50_000;

export const claudeCode: Client = {
  name: 'claude',
  thinks: true,
  goesOn: true,
  plays: [
    { way: 'gateway', api: 'anthropic', isLong: true },
    { way: 'none', api: 'anthropic', isLong: true },
    { way: 'gateway', api: 'anthropic', isLong: true, model: 'claude-opus-5-5' },
    {
      way: 'gateway',
      api: 'anthropic',
      isLong: true,
      window: SMALL_WINDOW,
      ownCompaction: 'once or more',
    },
    { way: 'gateway', api: 'anthropic', isLong: true, ownCompaction: 'after a refusal' },
  ],
  tools: {
    read: (file_path) => ({ name: 'Read', input: { file_path } }),
    edit: (file_path, old_string, new_string) => ({
      name: 'Edit',
      input: { file_path, old_string, new_string },
    }),
    run: (command) => ({ name: 'Bash', input: { command, description: 'Looks further.' } }),
  },
  configure({ home, workspace }) {
    mkdirSync(join(home, '.claude'), { recursive: true });
    const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    writeFileSync(
      join(home, '.claude.json'),
      JSON.stringify({
        hasCompletedOnboarding: true,
        customApiKeyResponses: { approved: ['made-up'], rejected: [] },
        projects: { [workspace]: project },
      }),
    );
  },
  run({ installed, url, contextWindow, model = 'claude-sonnet-4-5' }, prompt, goesOn) {
    const build = `claude-code-${process.platform}-${process.arch}`;
    const command = join(installed, 'node_modules/@anthropic-ai', build, 'claude');
    // What npm unpacks without running scripts is not executable.
    chmodSync(command, 0o755);
    const goOn = goesOn ? ['--continue'] : [];
    return {
      command,
      args: [
        ...['-p', prompt, '--model', model, ...goOn],
        ...['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash,Read,Edit'],
      ],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'made-up',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        // It takes no smaller window than this one, but summarizes at any share of what that leaves for input.
        ...(contextWindow === SMALL_WINDOW && {
          CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000',
          CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: String((contextWindow / 80_000) * 100),
        }),
      },
    };
  },
};

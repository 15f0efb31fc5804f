// Claude Code as a client of the host check. None of its hooks sees the history, so it goes through the gateway.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Client } from './client.js';

/** Small enough to fill and trigger summaries: its own prompt and tools take half of it. */
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
    // npm without scripts leaves the binary not executable.
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
        // Its smallest window setting, of which it can summarize at any share of the input limit.
        ...(contextWindow === SMALL_WINDOW && {
          CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000',
          CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: String((contextWindow / 80_000) * 100),
        }),
      },
    };
  },
};

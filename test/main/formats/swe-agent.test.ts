import { describe, expect, it } from 'vitest';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import { bare, readJson } from './reading.js';

const STATE = '\n\n(Open file: /repo/a.py)\n(Current directory: /repo)\nbash-$';

const act = (thought: string, action: string) => ({
  role: 'assistant',
  content: `${thought}\n\`\`\`\n${action}\n\`\`\``,
  thought,
  action,
});
const observe = (content: string) => ({ role: 'user', content });

describe('a trajectory of SWE-agent', () => {
  it('makes a call of each command, with the path that it names or edits', async () => {
    const { entries, format, workspaceRoot } = await readJson({
      trajectory: [{ state: '{"working_dir":"/repo"}' }],
      history: [
        { role: 'system', content: 'tools' },
        { role: 'user', content: 'a demonstration', is_demo: true },
        observe('the issue'),
        act('open it', 'open "a.py" 7\n'),
        observe(`code${STATE}`),
        act('edit it', 'edit 1:1\nx\nend_of_edit'),
        observe(`Your proposed edit has introduced new syntax error(s).\nE999${STATE}`),
        act('view it', 'str_replace_editor view /repo/a.py'),
        observe('code'),
        act('', 'submit'),
      ],
    });
    expect({ format, workspaceRoot }).toEqual({ format: 'swe-agent', workspaceRoot: '/repo' });
    const edited = 'Your proposed edit has introduced new syntax error(s).';
    expect(entries).toEqual([
      humanText('tools', { synthetic: true }),
      humanText('a demonstration', { synthetic: true }),
      humanText('the issue'),
      aiContent([
        { type: 'text', text: 'open it' },
        toolCall('call', 'open', { command: 'open "a.py" 7', path: 'a.py' }),
      ]),
      toolContent([toolResponse('call', 'open', `code${STATE}`)]),
      aiContent([
        { type: 'text', text: 'edit it' },
        toolCall('call#2', 'edit', {
          command: 'edit 1:1\nx\nend_of_edit',
          path: '/repo/a.py',
        }),
      ]),
      toolContent([toolResponse('call#2', 'edit', `${edited}\nE999${STATE}`, edited)]),
      aiContent([
        { type: 'text', text: 'view it' },
        toolCall('call#3', 'str_replace_editor', {
          command: 'view',
          path: '/repo/a.py',
          text: 'str_replace_editor view /repo/a.py',
        }),
      ]),
      toolContent([toolResponse('call#3', 'str_replace_editor', 'code')]),
      aiContent([toolCall('call#4', 'submit', { command: 'submit' })]),
    ]);
  });

  it('pairs tool calls with the messages that list their ids', async () => {
    const { entries } = await readJson({
      history: [
        {
          role: 'assistant',
          content: 'go',
          action: 'ls',
          tool_calls: [{ id: 'a', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
        },
        { role: 'tool', content: 'files', tool_call_ids: ['a'] },
      ],
    });
    expect(entries).toEqual([
      aiContent([{ type: 'text', text: 'go' }, toolCall('a', 'bash', { command: 'ls' })]),
      toolContent([toolResponse('a', 'bash', 'files')]),
    ]);
  });

  it('reads the steps when there is no history', async () => {
    const { entries } = await readJson({
      trajectory: [{ action: 'ls\n', observation: 'files', thought: 'look', response: 'look: ls' }],
    });
    expect(entries).toEqual([
      aiContent([{ type: 'text', text: 'look' }, toolCall('call', 'ls', { command: 'ls' })]),
      toolContent([toolResponse('call', 'ls', 'files')]),
    ]);
  });
});

describe('MINI_SWE_AGENT', () => {
  const document = (...messages: object[]) => ({
    info: { mini_version: '1', config: { environment: { cwd: '/testbed' } } },
    messages,
    trajectory_format: 'mini-swe-agent-1',
  });
  const bash = (command: string) => `\`\`\`bash\n${command}\n\`\`\``;

  it('takes the user message after one bash block as its response', async () => {
    const response = { id: 'g', model: 'm', created: 2, usage: { total_tokens: 1 } };
    const { entries, format, workspaceRoot } = await readJson(
      document(
        { role: 'assistant', content: `THOUGHT: look\n\n${bash('ls')}`, extra: { response } },
        { role: 'user', content: '<returncode>1</returncode>' },
      ),
    );
    expect({ format, workspaceRoot }).toEqual({
      format: 'mini-swe-agent',
      workspaceRoot: '/testbed',
    });
    expect(entries).toEqual([
      aiContent(
        [{ type: 'text', text: 'THOUGHT: look' }, toolCall('call', 'bash', { command: 'ls' })],
        { timestamp: 2000, id: 'g', model: 'm', usage: { total_tokens: 1 } },
      ),
      toolContent([toolResponse('call', 'bash', '<returncode>1</returncode>')]),
    ]);
  });

  it('makes no call of several blocks, which the agent refuses', async () => {
    const content = `${bash('ls')}\n${bash('pwd')}`;
    const { entries } = await readJson(
      document({ role: 'assistant', content }, { role: 'user', content: 'Exactly ONE action.' }),
    );
    expect(bare(entries)).toEqual([aiContent(content), humanText('Exactly ONE action.')]);
  });

  it('makes no call of blocks that are never closed, however many there are', async () => {
    const content = '```bash\n'.repeat(100_000);
    const { entries } = await readJson(document({ role: 'assistant', content }));
    expect(entries).toEqual([aiContent(content)]);
  });
});

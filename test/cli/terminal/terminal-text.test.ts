// The redacted JSON of a report.

import { describe, expect, test } from 'vitest';
import { createRedactedLabel, PLAIN_LABEL } from '../../../src/cli/terminal/content-label.js';
import { jsonText } from '../../../src/cli/terminal/terminal-text.js';

const LABEL = createRedactedLabel(Buffer.from('key'));
const FILE = '/home/me/sessions/acme-merger.jsonl';

describe('jsonText', () => {
  const folder = {
    path: '/home/me/sessions',
    isFolder: true,
    sessions: [{ file: FILE, format: 'pi' }],
    unread: [{ file: FILE, code: 'UNKNOWN_FORMAT', reason: 'The transcript is no text file.' }],
  };

  test('hides the names of files in a folder, but not the folder that was given', () => {
    const text = jsonText(folder, LABEL);
    const tag = LABEL.ofPath(FILE);

    expect(text).not.toContain('acme');
    expect(JSON.parse(text)).toEqual({
      ...folder,
      sessions: [{ file: tag, format: 'pi' }],
      unread: [{ ...folder.unread[0], file: tag }],
    });
    expect(JSON.parse(jsonText(folder, PLAIN_LABEL))).toEqual(folder);
  });

  test('keeps the names of given files', () => {
    const replay = {
      file: FILE,
      format: 'pi',
      removals: { file: '/tmp/removed.jsonl', records: 1 },
    };
    const analysis = { path: FILE, isFolder: false, sessions: [{ file: FILE, format: 'pi' }] };

    expect(JSON.parse(jsonText(replay, LABEL))).toEqual(replay);
    expect(JSON.parse(jsonText(analysis, LABEL))).toEqual(analysis);
  });
});

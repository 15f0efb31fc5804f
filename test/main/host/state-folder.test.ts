import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { userStateFolder } from '../../../src/main/host/state-folder.js';

describe('userStateFolder', () => {
  it('is in the folder that the system names, if its path is absolute', () => {
    const own = join(homedir(), '.local/state/ctxfold');
    expect(userStateFolder({ XDG_STATE_HOME: '/state' }, 'linux')).toBe('/state/ctxfold');
    expect(userStateFolder({ LOCALAPPDATA: '/local' }, 'win32')).toBe('/local/ctxfold');
    expect(userStateFolder({ LOCALAPPDATA: '/local' }, 'linux')).toBe(own);
    for (const odd of ['', 'state', undefined]) {
      expect(userStateFolder({ XDG_STATE_HOME: odd }, 'linux')).toBe(own);
    }
  });
});

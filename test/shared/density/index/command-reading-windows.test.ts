// Commands of PowerShell and cmd: what they read and write, also through other shells, variables and here-strings.

import { describe, expect, it } from 'vitest';
import { readCommand } from '../../../../src/shared/density/index/command-reading.js';

const { raw } = String;
const TEXT = "it's here\ncat other.md > z.txt\n".repeat(300);

describe('readCommand on Windows', () => {
  it.each<readonly [command: string, kind: string, files: readonly string[]]>([
    // A shell within another one.
    [
      raw`powershell.exe -NoProfile -ExecutionPolicy Bypass -Command "Get-Content 'C:\w\a.ts' -TotalCount 40"`,
      'read',
      ['C:/w/a.ts'],
    ],
    [raw`pwsh -NoLogo -c "Set-Content -Path src\a.ts -Value 'x'"`, 'write', ['src/a.ts']],
    [raw`cmd.exe /d /c "type C:\w\a.ts"`, 'read', ['C:/w/a.ts']],
    [raw`cmd /c "dir /s /b"`, 'search', []],
    [
      raw`powershell -NoProfile -ExecutionPolicy Bypass -Command "gci src; npm test"`,
      'command',
      [],
    ],
    [raw`npm test; powershell -Command "gci src"`, 'command', []],
    // Programs with an extension, and aliases.
    ['rg.exe -n "foo" src', 'search', []],
    ['sed.exe -n 1,20p a.ts', 'read', ['a.ts']],
    [raw`gci -r -Filter *.ts | sls foo`, 'search', []],
    // Variables.
    [raw`$lines = Get-Content src\a.ts; $lines[100..140]`, 'read', ['src/a.ts']],
    ['$text = "Get-Content a.ts"; npm test', 'command', ['a.ts']],
    // Writes to quoted and other names.
    [raw`Set-Content -Path "C:\w\src\a.ts" -Value $text`, 'write', ['C:/w/src/a.ts']],
    [raw`Add-Content -Path "C:\My Dir\a.log" -Value "x"`, 'write', ['C:/My Dir/a.log']],
    [raw`echo hello >> C:\w\a.txt`, 'write', ['C:/w/a.txt']],
    ['npm test > nul 2>&1', 'command', []],
    // Here-strings are text, in which nothing runs; the program behind one may be far away.
    [`@'\n${TEXT}'@ | Set-Content -Path src\\a.ts -Encoding utf8`, 'write', ['src/a.ts']],
    [`$text = @"\r\n${TEXT}\r\n"@\r\nOut-File "C:\\w\\a b.ts"`, 'write', ['C:/w/a b.ts']],
    [`@'\n${TEXT}`, 'command', []],
    [`@'\n$b = @"\n'@ | Set-Content src\\a.ts`, 'write', ['src/a.ts']],
    // The rest of a name on another machine, behind a variable or behind brackets is no file of the workspace.
    [raw`type \\server\share\a.ts`, 'read', []],
    [raw`gc $env:USERPROFILE\a.ts`, 'read', []],
    [raw`gc src\[id]\page.tsx`, 'read', []],
    [raw`gc ~\a.ts`, 'read', ['~/a.ts']],
    [raw`gc ~\notes`, 'read', ['~/notes']],
    [raw`Push-Location C:\w; gc a.ts; Pop-Location`, 'read', ['C:/w/a.ts']],
  ])('%s', (command, kind, files) => {
    expect(readCommand(command)).toMatchObject({ kind, files });
  });
});

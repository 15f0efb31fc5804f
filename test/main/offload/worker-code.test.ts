import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { WORKER_CODE } from '../../../src/main/offload/worker-code.js';

describe('WORKER_CODE', () => {
  it('declares no global, as one of that name may exist in the thread, such as `gc` under --expose-gc', () => {
    const context = createContext({});
    // For all short names: if a global cannot be configured, declaring its name fails before any code runs.
    const letters = Array.from('$_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ');
    const names = letters.flatMap((one) => [one, ...letters.map((two) => one + two)]);
    runInContext(
      `for (const name of ${JSON.stringify(names)}) Object.defineProperty(globalThis, name, { value: 1 });`,
      context,
    );
    const isDeclared = (code: string): boolean => {
      try {
        runInContext(code, context);
      } catch (error) {
        return String(error).includes('already been declared');
      }
      return false;
    };
    expect(isDeclared('const gc = 2;')).toBe(true);
    expect(isDeclared(WORKER_CODE)).toBe(false);
  });
});

// Types of shake-declarations.js, for its test.

export declare function shakeDeclarations(
  entries?: readonly string[],
  folder?: string,
): readonly string[];

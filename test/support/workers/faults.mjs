// Faults shared by the test workers. Plain JavaScript, because threads load it without a compiler.

/** An object nested that many levels deep. */
export function nested(levels) {
  let value = {};
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
}

/** Faults that end or block the thread. */
export const fatalDeeds = {
  exit: () => process.exit(7),
  loop: () => {
    for (;;);
  },
  outOfMemory: () => {
    const hoard = [];
    for (;;) hoard.push(Array.from({ length: 1_000 }, (_, at) => ({ at })));
  },
};

// A task of a worker pool that does nothing: what starting a thread costs by itself.

/** Returns what it was given. */
export default function emptyTask(input: number): number {
  return input;
}

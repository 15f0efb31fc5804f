// Gets the task list from the host, and validates it.

import * as z from 'zod/mini';
import { CtxfoldError } from '../../shared/errors.js';
import { askHost } from '../host/ask-host.js';
import type { Todo } from './todo.js';

/** Maximum number of items; a summary could not explain more. */
const MAX_TODOS = 10_000;

const TODOS = z
  .array(
    z.object({
      id: z.string(),
      content: z.string(),
      status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
      subtasks: z.optional(z.array(z.object({ id: z.string(), content: z.string() }))),
    }),
  )
  .check(z.maxLength(MAX_TODOS));

/**
 * Gets the task list from the host.
 *
 * @returns a copy, independent of the host's objects
 * @throws CtxfoldError `TODOS_FAILED` if the host throws, or returns anything but a task list.
 */
export function askForTodos(activeTodos: () => readonly Todo[]): readonly Todo[] {
  const failed = (message: string, options?: ErrorOptions): Error =>
    new CtxfoldError(message, 'TODOS_FAILED', options);
  const expected =
    'a list of { id, content, status }, with the status pending, in_progress, completed or cancelled';
  const read = (todos: unknown): readonly Todo[] | undefined => TODOS.safeParse(todos).data;
  return askHost('activeTodos', expected, activeTodos, failed, read);
}

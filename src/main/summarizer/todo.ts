// The task list as a host hands it in, and how it is asked for.

import { CtxfoldError } from '../../shared/errors.js';
import { isArray, isObject } from '../../shared/misuse.js';
import { askHost } from '../host/ask-host.js';

/** One item of a task list. */
export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
  readonly subtasks?: readonly TodoSubtask[] | undefined;
}

export interface TodoSubtask {
  readonly id: string;
  readonly content: string;
}

/** Returns the items that still have to be done. */
export function activeTodosOf(todos: readonly Todo[]): readonly Todo[] {
  return todos.filter(({ status }) => status !== 'completed' && status !== 'cancelled');
}

/** Items that a list may have; of more, a summary could explain none. */
const MAX_TODOS = 10_000;

const STATUSES: readonly unknown[] = ['pending', 'in_progress', 'completed', 'cancelled'];

/**
 * Asks the host for its task list.
 *
 * @returns a list of its own: what the host does with its objects later has no effect
 * @throws CtxfoldError `TODOS_FAILED` when the host throws, or returns what is no such list.
 */
export function askForTodos(activeTodos: () => readonly Todo[]): readonly Todo[] {
  const failed = (message: string, options?: ErrorOptions): Error =>
    new CtxfoldError(message, 'TODOS_FAILED', options);
  return askHost('activeTodos', activeTodos, failed, (todos) => {
    if (!isArray(todos) || todos.length > MAX_TODOS) return undefined;
    return allOf(todos, readTodo);
  });
}

function readTodo(value: unknown): Todo | undefined {
  if (!isObject(value)) return undefined;
  const { id, content, status, subtasks } = value;
  if (typeof id !== 'string' || typeof content !== 'string' || !STATUSES.includes(status)) {
    return undefined;
  }
  const todo = { id, content, status: status as Todo['status'] };
  if (subtasks === undefined) return todo;
  const parts = isArray(subtasks) ? allOf(subtasks, readSubtask) : undefined;
  return parts === undefined ? undefined : { ...todo, subtasks: parts };
}

function readSubtask(value: unknown): TodoSubtask | undefined {
  if (!isObject(value)) return undefined;
  const { id, content } = value;
  return typeof id === 'string' && typeof content === 'string' ? { id, content } : undefined;
}

/** What each element reads as, or `undefined` when one of them cannot be read. */
function allOf<Item>(
  values: readonly unknown[],
  read: (value: unknown) => Item | undefined,
): readonly Item[] | undefined {
  const items: Item[] = [];
  for (let at = 0; at < values.length; at += 1) {
    const item = read(values[at]);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

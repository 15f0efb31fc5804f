// The host's task list, and its validation.

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

/** Returns the items that are not done. */
export function activeTodosOf(todos: readonly Todo[]): readonly Todo[] {
  return todos.filter(({ status }) => status !== 'completed' && status !== 'cancelled');
}

/** Maximum number of items; a summary could not explain more. */
const MAX_TODOS = 10_000;

const STATUSES: readonly unknown[] = ['pending', 'in_progress', 'completed', 'cancelled'];

/**
 * Gets the task list from the host.
 *
 * @returns a copy, independent of the host's objects
 * @throws CtxfoldError `TODOS_FAILED` if the host throws, or returns anything but a task list.
 */
export function askForTodos(activeTodos: () => readonly Todo[]): readonly Todo[] {
  const failed = (message: string, options?: ErrorOptions): Error =>
    new CtxfoldError(message, 'TODOS_FAILED', options);
  return askHost('activeTodos', activeTodos, failed, (todos) => {
    if (!isArray(todos) || todos.length > MAX_TODOS) return undefined;
    return readEach(todos, readTodo);
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
  const parts = isArray(subtasks) ? readEach(subtasks, readSubtask) : undefined;
  return parts === undefined ? undefined : { ...todo, subtasks: parts };
}

function readSubtask(value: unknown): TodoSubtask | undefined {
  if (!isObject(value)) return undefined;
  const { id, content } = value;
  return typeof id === 'string' && typeof content === 'string' ? { id, content } : undefined;
}

/** Reads each element; `undefined` if any cannot be read. */
function readEach<Item>(
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

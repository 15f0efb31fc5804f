// The host's task list.

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

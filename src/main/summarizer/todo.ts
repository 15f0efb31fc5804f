// The task list as a host hands it in.

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

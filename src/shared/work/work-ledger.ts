// A ledger of what became of files, commands and calls. The latest outcome of a name replaces its earlier lines, unless they must stay.

/** Outcomes, most important first. `answered`: the result did not state how the call ended. */
export const WORK_KINDS = ['denied', 'failed', 'written', 'answered', 'passed'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** Prefix of the names of written files, which distinguishes them from commands. */
export const WRITE = 'write ';

/** Separate a name from what the call or the user said. All other text is stripped of them, so that no output passes for such words. */
const DETAIL_SEPARATOR = ' → ';
const FEEDBACK_SEPARATOR = ' — the user said: ';
const SEPARATOR = / → | — the user said: /;

/** Replaces the separators in a text, so that it may be part of a line. */
export function withoutSeparators(text: string): string {
  return text
    .replaceAll(DETAIL_SEPARATOR, ' -> ')
    .replaceAll(FEEDBACK_SEPARATOR, ' - the user said: ');
}

/** What is known of one name. */
interface Known {
  /** The lines of this name that its next outcome replaces. */
  readonly replaceable: Set<string>;
  latest: WorkKind;
}

/** The ledger. Each operation touches only the replaceable lines of one name. */
export class WorkLedger {
  readonly #done = new Map<string, WorkKind>();
  readonly #known = new Map<string, Known>();

  constructor(earlier: ReadonlyMap<string, WorkKind>) {
    for (const [line, kind] of earlier) {
      // The user's words stay, and so does an object (`{…}`): it names a thing that a call made, which another call does not undo.
      const stays = line.includes(FEEDBACK_SEPARATOR) || line.includes(`${DETAIL_SEPARATOR}{`);
      this.#add(line.split(SEPARATOR, 1)[0] ?? '', line, kind, stays);
    }
  }

  /** Outcome by line, latest last. A line is a command, a file prefixed by `WRITE`, or a tool with its arguments, then what was said. */
  get done(): ReadonlyMap<string, WorkKind> {
    return this.#done;
  }

  /** The latest outcome of a name. */
  latestOf(name: string): WorkKind | undefined {
    return this.#known.get(name)?.latest;
  }

  /**
   * Notes an outcome, which replaces the earlier ones of this name.
   *
   * @param stays whether later outcomes do not replace this line, because equal calls may make different things @default false
   */
  note(name: string, kind: WorkKind, detail = '', stays = false): void {
    this.#replace(name);
    const line = detail === '' ? name : name + DETAIL_SEPARATOR + withoutSeparators(detail);
    this.#add(name, line, kind, stays);
  }

  /** Notes a denied call. The user's words stay, even if the call is allowed later. */
  noteDenied(name: string, feedback: string): void {
    this.#replace(name);
    const hasFeedback = feedback !== '';
    const line = hasFeedback ? name + FEEDBACK_SEPARATOR + feedback : name;
    this.#add(name, line, 'denied', hasFeedback);
  }

  /** Notes a write. A failed one does not undo an earlier successful one. */
  noteWrite(path: string, kind: 'written' | 'failed'): void {
    const name = WRITE + path;
    if (kind === 'written' || this.latestOf(name) !== 'written') this.note(name, kind);
  }

  forgetWrite(path: string): void {
    this.forget(WRITE + path);
  }

  /** Forgets all writes. Linear in the names. */
  forgetWrites(): void {
    for (const [name, { latest }] of this.#known) if (latest === 'written') this.forget(name);
  }

  forget(name: string): void {
    this.#replace(name);
    this.#known.delete(name);
  }

  #replace(name: string): void {
    const lines = this.#known.get(name)?.replaceable;
    for (const line of lines ?? []) this.#done.delete(line);
    lines?.clear();
  }

  #add(name: string, line: string, kind: WorkKind, stays: boolean): void {
    this.#done.delete(line);
    this.#done.set(line, kind);
    const known = this.#known.get(name) ?? { replaceable: new Set(), latest: kind };
    known.latest = kind;
    if (!stays) known.replaceable.add(line);
    this.#known.set(name, known);
  }
}

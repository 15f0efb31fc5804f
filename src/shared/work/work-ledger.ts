// What became of files, commands and calls: one line for each, the latest outcome of a name in place of earlier ones.

/** More important ones first. `answered`: its result did not state how it ended. */
export const WORK_KINDS = ['denied', 'failed', 'written', 'answered', 'passed'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** Prefix of the names of written files, which distinguishes them from commands. */
export const WRITE = 'write ';

/** Between a name and what the call said, or what the user said of it. Nothing else contains them, so that no output is taken for words. */
const SAID = ' → ';
const USER_SAID = ' — the user said: ';
const SEPARATOR = / → | — the user said: /;

/** A text as it may stand in a line. */
export function withoutSeparators(text: string): string {
  return text.replaceAll(SAID, ' -> ').replaceAll(USER_SAID, ' - the user said: ');
}

/** What is known of one name. */
interface Known {
  /** Its lines that the next one replaces. */
  readonly replaceable: Set<string>;
  latest: WorkKind;
}

/** Lines by name. Each operation looks at the replaceable lines of one name only. */
export class WorkLedger {
  readonly #done = new Map<string, WorkKind>();
  readonly #known = new Map<string, Known>();

  constructor(earlier: ReadonlyMap<string, WorkKind>) {
    for (const [line, kind] of earlier) {
      // An object names what was made, which another call does not replace.
      const stays = line.includes(USER_SAID) || line.includes(`${SAID}{`);
      this.#add(line.split(SEPARATOR, 1)[0] ?? '', line, kind, stays);
    }
  }

  /** By line, what became of it: a command, a file prefixed by `WRITE`, or a tool with its arguments, and what was said. The latest last. */
  get done(): ReadonlyMap<string, WorkKind> {
    return this.#done;
  }

  /** The latest outcome of a name. */
  latestOf(name: string): WorkKind | undefined {
    return this.#known.get(name)?.latest;
  }

  /**
   * Notes an outcome in place of earlier ones of this name.
   *
   * @param stays whether the next one does not replace it: equal calls may make different things @default false
   */
  note(name: string, kind: WorkKind, said = '', stays = false): void {
    this.#replace(name);
    const line = said === '' ? name : name + SAID + withoutSeparators(said);
    this.#add(name, line, kind, stays && said !== '');
  }

  /** The user's words stay, even if the call is allowed later. */
  noteDenied(name: string, feedback: string): void {
    this.#replace(name);
    const isSaid = feedback !== '';
    this.#add(name, isSaid ? name + USER_SAID + feedback : name, 'denied', isSaid);
  }

  /** A failed edit does not undo an earlier write. */
  noteWrite(path: string, kind: 'written' | 'failed'): void {
    const name = WRITE + path;
    if (kind === 'written' || this.latestOf(name) !== 'written') this.note(name, kind);
  }

  forgetWrite(path: string): void {
    this.forget(WRITE + path);
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

// What the calls of a tool do to files: read, write, search or run commands, and which parameters hold the paths. Plain data, so that
// a catalog can be passed to threads and written as JSON.

/** One way in which a tool touches files. */
export interface FileUse extends UseCondition {
  readonly access: 'read' | 'write';
  /** Whether the whole file is read or written, or a part of it. */
  readonly extent: 'whole' | 'part';
  /** Parameter keys that hold one path; the first one present is used. */
  readonly pathKeys?: readonly string[];
  /** Parameter keys that hold a list of paths or glob patterns; the first one present is used. */
  readonly pathListKeys?: readonly string[];
  /** For lists of objects, the key of each object's path. @default the elements are paths */
  readonly pathListItemKey?: string;
  /** Parameter keys that hold a patch in the `apply_patch` format, which names its files; the first one present is used. */
  readonly patchKeys?: readonly string[];
  /** Which parameters hold the lines to read. Without it, the lines of a partial read are unknown. */
  readonly lineKeys?: LineKeys;
}

/** Parameter keys of the lines that are read, counted from 1; an absent one leaves that end of the range open. */
export interface LineKeys {
  /** Holds the first line. */
  readonly first?: string;
  /** Holds the last line. */
  readonly last?: string;
  /** Holds the number of lines. */
  readonly count?: string;
  /** Holds first and last line as a list or its JSON; -1 as the last line means the end. */
  readonly range?: string;
}

/**
 * A tool that touches no file. `search`: its results become stale sooner than those of reads. `ask`: its results are the user's
 * words, which stay in view and are recorded by compactions. `instruct`: its results are instructions for the agent, which stay.
 */
export interface ResultUse extends UseCondition {
  readonly access: 'search' | 'ask' | 'instruct';
}

/** A tool that runs shell commands, or scripts that do. The command's text tells what it reads and writes. */
export interface CommandUse extends UseCondition {
  readonly access: 'run';
  /**
   * Parameter keys that hold the command, as text or as a list of words; the first one present is used. If none is, the
   * parameters themselves are the command.
   */
  readonly commandKeys: readonly string[];
}

/** Restricts a use to some calls of a tool. */
interface UseCondition {
  /** Restricts this use to calls whose parameter `key` has one of `values`; of a boolean, `true` or `false`. */
  readonly when?: { readonly key: string; readonly values: readonly string[] };
  /** Restricts this use to calls that have one of these parameters. */
  readonly has?: readonly string[];
  /**
   * Extends this use to tools whose name follows that of a server, as MCP clients spell them: `mcp__files__read_file`,
   * `files.read_file`. @default false
   */
  readonly anyServer?: boolean;
  /**
   * For uses under `'*'`: restricts this use to tools whose name contains one of these words. Several words in one text must all be in
   * the name: `'find file'` matches `findFilesByGlob`. Plurals count as singulars; the server's name is ignored.
   */
  readonly words?: readonly string[];
}

/** What a tool call does. */
export type ToolUse = FileUse | ResultUse | CommandUse;

/** What calls do, by tool name, then under `'*'` for any tool; the first use whose `when` and `has` apply is taken. */
export type ToolCatalog = Readonly<Record<string, readonly ToolUse[]>>;

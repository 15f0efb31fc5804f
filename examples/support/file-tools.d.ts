/** A tool with the description that SDKs expect. */
export interface FileTool {
  readonly name: 'read_file' | 'write_file' | 'replace' | 'list_directory' | 'search';
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<
      Record<string, { readonly type: 'string'; readonly description?: string }>
    >;
    readonly required: string[];
    readonly additionalProperties: false;
  };
  /** Takes input that matches the schema. Rejects with a message for the model. */
  run(input: Readonly<Record<string, string>>): Promise<string>;
}

/**
 * Makes the tools for one directory. All parameters are required. `DEFAULT_TOOL_CATALOG` knows the tools that read and
 * write: `read_file`, `write_file`, `replace`.
 */
export declare function fileTools(workspaceRoot: string): FileTool[];

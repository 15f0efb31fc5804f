// The work that the scripted models of the examples do in the temporary workspace: they find out why a
// discount begins too late, and mend that.

/** What the user asks for. */
export const TASK = 'Let the discount in src/price.js begin at ten pieces.';

export const READ_PRICES = {
  toolCalls: [{ name: 'read_file', input: { file_path: 'src/price.js' } }],
};

export const MEND_PRICES = {
  text: 'The discount begins too late.',
  toolCalls: [
    {
      name: 'replace',
      input: {
        file_path: 'src/price.js',
        old_string: 'quantity > BULK_QUANTITY',
        new_string: 'quantity >= BULK_QUANTITY',
      },
    },
  ],
};

export const DONE = { text: 'The discount begins at ten pieces now.' };

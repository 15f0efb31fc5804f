// The task of the examples' scripted models in the temporary workspace: find out why a discount starts too late, and
// fix it.

/** The user's prompt. */
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

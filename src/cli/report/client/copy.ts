// Copies the text of an element. If the browser refuses, the text stays selected for copying by hand.

/** How long the button shows the outcome. */
const OUTCOME_SHOWN_MS = 2_000;

/** Makes a button copy the element whose id its `data-copy` names. */
export function startCopying(button: HTMLButtonElement): void {
  const source = document.getElementById(button.dataset['copy'] ?? '');
  const label = button.textContent;
  if (source === null) return;
  const say = (text: string): void => {
    button.textContent = text;
    setTimeout(() => (button.textContent = label), OUTCOME_SHOWN_MS);
  };
  button.addEventListener('click', () => {
    getSelection()?.selectAllChildren(source);
    navigator.clipboard.writeText(source.textContent).then(
      () => {
        say('Copied');
      },
      () => {
        say('Selected');
      },
    );
  });
}

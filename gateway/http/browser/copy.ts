import { byId, element, setText } from './dom.js';

/** How long a button says that it has copied. */
const SAID_MS = 2000;

const said = byId('said', HTMLElement);

for (const text of document.querySelectorAll<HTMLElement>('pre[data-copy]')) {
  const label = text.dataset.copy ?? '';
  const button = element('button', { type: 'button', class: 'second copy', 'aria-label': `Copy: ${label}` }, 'Copy');
  button.addEventListener('click', () => {
    copy(text).then(
      () => {
        setText(button, 'Copied');
        setText(said, `Copied: ${label}`);
        setTimeout(() => setText(button, 'Copy'), SAID_MS);
      },
      () => {
        select(text);
        setText(said, 'The browser does not allow copying. The text is selected: copy it by hand.');
      },
    );
  });
  text.parentElement?.querySelector('h2')?.after(button);
}

/** Pages have a clipboard only over TLS and on loopback; elsewhere browsers still copy what is selected. */
async function copy(node: HTMLElement): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(node.textContent ?? '');
  select(node);
  if (!document.execCommand('copy')) throw new Error('refused');
}

function select(node: HTMLElement): void {
  const range = document.createRange();
  range.selectNodeContents(node);
  const selection = getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}

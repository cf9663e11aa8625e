import { TEXTS } from './texts.js';

/** Sources of files: the button, the camera, a drop, a paste. */
interface Places {
  inputs: readonly HTMLInputElement[];
  /** Has the class `over` while a file is dragged over the page. */
  target: HTMLElement;
  onFiles: (files: readonly File[]) => void;
  onProblem: (text: string) => void;
}

/** Takes files from any source, and explains when an item is not a file. */
export function takeFiles({ inputs, target, onFiles, onProblem }: Places): void {
  for (const input of inputs) {
    const take = () => {
      const files = [...(input.files ?? [])];
      // allows picking the same file again
      input.value = '';
      if (files.length > 0) onFiles(files);
    };
    input.addEventListener('change', take);
    // what was picked while this script was on its way, once the page is as it will be
    queueMicrotask(take);
  }
  const take = (transfer: DataTransfer | null) => {
    const items = [...(transfer?.items ?? [])];
    if (items.some((item) => item.kind === 'file' && item.webkitGetAsEntry?.()?.isDirectory)) {
      onProblem(TEXTS.folder);
      return;
    }
    const files = [...(transfer?.files ?? [])];
    if (files.length > 0) onFiles(files);
    else onProblem(TEXTS.nothing);
  };
  // entering a child comes before leaving its parent
  let depth = 0;
  const over = (step: number) => {
    depth = Math.max(0, depth + step);
    target.classList.toggle('over', depth > 0);
  };
  document.addEventListener('dragenter', () => over(1));
  document.addEventListener('dragleave', () => over(-1));
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => {
    // otherwise the browser replaces the page by the file
    event.preventDefault();
    over(-depth);
    take(event.dataTransfer);
  });
  document.addEventListener('paste', (event) => {
    event.preventDefault();
    take(event.clipboardData);
  });
}

/** Without any byte for this long the network is gone, whether or not the browser knows. */
const STALL_MS = 30_000;
/** After everything is sent the server checks and stores it. */
const ANSWER_MS = 120_000;

export interface Answer {
  status: number;
  header(name: string): string | undefined;
  text: string;
}

/** The answer is missing, so it is unknown how much the server has. */
export class Lost extends Error {}

interface Sent {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: Blob | FormData;
  /** Called with the number of bytes of the body that have been sent. */
  onSent?: (bytes: number) => void;
  signal: AbortSignal;
}

/**
 * One request. `fetch` does not report how much of a body is sent, so this uses XMLHttpRequest.
 * @throws Lost, or the reason of `signal`
 */
export function request({ method, url, headers, body, onSent, signal }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    let timer = 0;
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const expect = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        xhr.abort();
        end(() => reject(new Lost('no byte has moved')));
      }, ms);
    };
    const onAbort = () => {
      xhr.abort();
      end(() => reject(signal.reason));
    };
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    signal.addEventListener('abort', onAbort);
    xhr.open(method, url);
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded }) => {
      expect(STALL_MS);
      onSent?.(loaded);
    };
    xhr.upload.onload = () => expect(ANSWER_MS);
    xhr.onerror = () => end(() => reject(new Lost('the request failed')));
    xhr.onload = () =>
      end(() =>
        resolve({
          status: xhr.status,
          header: (name) => xhr.getResponseHeader(name) ?? undefined,
          text: xhr.responseText,
        }),
      );
    expect(STALL_MS);
    xhr.send(body ?? null);
  });
}

import type { UploadIntent } from '../../files/tickets/upload-intent.js';
import { TEXTS } from '../browser/texts.js';
import { CODE_FIELD, UNLOCK } from '../upload-code.js';
import { Layout } from './layout.js';
import { Asks } from './upload-form.js';

interface CodeFormProps {
  intent: Pick<UploadIntent, 'purpose' | 'several'>;
  /** Why the code that was given is not taken. */
  problem?: string | undefined;
}

/** The page that asks for the code of a link, before it says more than which server asks for a file. */
export function CodeForm({ intent: { purpose, several }, problem }: CodeFormProps) {
  return (
    <Layout title={TEXTS.code.title}>
      <h1 tabindex={-1}>{TEXTS.code.title}</h1>
      {purpose && <Asks purpose={purpose} isForSeveral={several !== undefined} />}
      <p id="why">{TEXTS.code.why}</p>
      {problem !== undefined && (
        <div class="problem" role="alert" id="wrong">
          <p>{problem}</p>
        </div>
      )}
      <form method="post" action={`?${UNLOCK}`}>
        <p>
          <label class="plain" for={CODE_FIELD}>
            {TEXTS.code.label}
          </label>
          <input
            id={CODE_FIELD}
            name={CODE_FIELD}
            type="text"
            class="code"
            required
            maxlength={16}
            size={10}
            autocomplete="off"
            autocapitalize="characters"
            spellcheck={false}
            aria-describedby={problem === undefined ? 'why' : 'wrong why'}
            aria-invalid={problem === undefined ? undefined : 'true'}
          />
        </p>
        <button type="submit">{TEXTS.code.go}</button>
      </form>
    </Layout>
  );
}

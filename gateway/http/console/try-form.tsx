import { jsonIn } from '../../json/text.js';
import { mostText } from '../../policy/amounts.js';
import { EACH } from '../../schema/argument-path.js';
import { shown } from '../browser/shown.js';
import { toldLines } from './console-layout.js';
import type { Effect } from './trying/effect.js';
import type { Field, ToolForm } from './trying/tool-form.js';

/** What stands in the form. */
export interface FormState {
  form: ToolForm;
  values: ReadonlyMap<number, string>;
  others: string;
  problems: ReadonlyMap<number | 'others' | 'confirm', string>;
}

interface Props extends FormState {
  action: string;
  effect: Effect;
}

/** The form for a call. It needs no script: the server reads every field as text, and its files as they come. */
export function TryForm({ action, effect, form, values, others, problems }: Props) {
  const { fields, more, shape } = form;
  const othersProblem = problems.get('others');
  const isOpen = more > 0 || others !== '' || othersProblem !== undefined;
  return (
    <form method="post" action={action} enctype="multipart/form-data" class="try">
      <input type="hidden" name="shape" value={shape} />
      {fields.map((field, index) => (
        <FieldRow
          field={field}
          index={index}
          value={values.get(index) ?? field.initial}
          problem={problems.get(index)}
        />
      ))}
      {fields.length === 0 && <p class="soft">It names no arguments.</p>}
      <details open={isOpen}>
        <summary>{more > 0 ? `Its ${more} other arguments` : 'Other arguments'}</summary>
        <label for="others">As a JSON object</label>
        <textarea
          id="others"
          name="others"
          rows={3}
          spellcheck={false}
          aria-invalid={othersProblem === undefined ? undefined : 'true'}
          aria-describedby={othersProblem === undefined ? undefined : 'p-others'}
        >
          {`\n${others}`}
        </textarea>
        {othersProblem !== undefined && (
          <p class="bad" id="p-others">
            {othersProblem}
          </p>
        )}
      </details>
      <Confirm effect={effect} problem={problems.get('confirm')} />
      <p>
        <button type="submit">Call the tool</button>
      </p>
    </form>
  );
}

function Confirm({ effect: { words, isDestructive }, problem }: { effect: Effect; problem: string | undefined }) {
  if (!isDestructive) return <p class="soft">{words}</p>;
  return (
    <>
      <p>{words}</p>
      <label class="check">
        <input
          type="checkbox"
          name="confirm"
          value="yes"
          required
          aria-invalid={problem === undefined ? undefined : 'true'}
          aria-describedby={problem === undefined ? undefined : 'p-confirm'}
        />
        Call it all the same
      </label>
      {problem !== undefined && (
        <p class="bad" id="p-confirm">
          {problem}
        </p>
      )}
    </>
  );
}

/** Characters of what a field takes, and of a choice. */
const MOST_OF_HINT = 600;

interface RowProps {
  field: Field;
  index: number;
  value: string;
  problem: string | undefined;
}

function FieldRow({ field, index, value, problem }: RowProps) {
  const { label, about, hints, isRequired, kind } = field;
  const hint = [kindText(field), ...hints].join(', ');
  const described = [`h${index}`, ...(problem === undefined ? [] : [`p${index}`])].join(' ');
  const state = {
    'aria-describedby': described,
    ...(problem !== undefined && { 'aria-invalid': 'true' as const }),
  };
  return (
    <div class="field">
      <label for={kind === 'file' ? `f${index}` : `v${index}`}>
        <bdi>{shown(label)}</bdi>
        {isRequired && <span class="soft"> (required)</span>}
      </label>
      <p class="soft" id={`h${index}`}>
        {about !== undefined && (
          <>
            <span class="said">{toldLines(about, about.length)}</span>
            <br />
          </>
        )}
        <bdi>{shown(hint, MOST_OF_HINT)}</bdi>
      </p>
      <Control field={field} index={index} value={value} state={state} />
      {problem !== undefined && (
        <p class="bad" id={`p${index}`}>
          {problem}
        </p>
      )}
    </div>
  );
}

type State = Record<string, string>;

function Control({ field, index, value, state }: Pick<RowProps, 'field' | 'index' | 'value'> & { state: State }) {
  const id = `v${index}`;
  switch (field.kind) {
    case 'choice':
      return (
        <select id={id} name={id} required={field.isRequired} {...state}>
          {(!field.isRequired || value === '') && <option value="">{field.isRequired ? 'Choose' : 'not given'}</option>}
          {field.choices.map((choice) => (
            <option value={choice} selected={choice === value}>
              {shown(choiceText(choice), MOST_OF_HINT)}
            </option>
          ))}
        </select>
      );
    case 'number':
    case 'integer':
      return (
        <input
          type="text"
          inputmode={field.kind === 'integer' ? 'numeric' : 'decimal'}
          id={id}
          name={id}
          value={value}
          required={field.isRequired}
          autocomplete="off"
          {...state}
        />
      );
    case 'file':
      return (
        <>
          <input
            type="file"
            id={`f${index}`}
            name={`f${index}`}
            multiple={field.isMany}
            accept={field.accept.length > 0 ? field.accept.join(',') : undefined}
            {...state}
          />
          <label for={id} class="soft">
            {field.isMany ? 'or handles, one a line' : 'or a handle'}
          </label>
          <textarea id={id} name={id} rows={1} spellcheck={false} autocomplete="off">
            {`\n${value}`}
          </textarea>
        </>
      );
    default:
      return (
        <textarea
          id={id}
          name={id}
          rows={field.kind === 'json' ? 3 : 1}
          spellcheck={false}
          required={field.kind === 'json' && field.isRequired && !field.hasInner}
          {...state}
        >
          {/* the first line break of a text area is not its own */}
          {`\n${value}`}
        </textarea>
      );
  }
}

/** A text without its quotes, where that is still something to read. */
function choiceText(choice: string): string {
  const value = jsonIn(choice);
  return typeof value === 'string' && value.trim() !== '' ? value : choice;
}

function kindText({ kind, path, hasInner, isMany, accept, most, isRequired, type }: Field): string {
  switch (kind) {
    case 'text':
      return isRequired ? 'Text' : 'Text; left empty, it is not given';
    case 'number':
      return 'Number';
    case 'integer':
      return 'Whole number';
    case 'choice':
      return 'One of these';
    case 'json':
      if (type === 'array' && hasInner) return 'A list as JSON: [{"a": 1}]; left empty, it is made of the files below';
      if (type === 'array') return 'A list as JSON: ["a", "b"]';
      return type === 'object' ? 'An object as JSON: {"a": 1}' : 'JSON; a text stands in quotes';
    case 'file':
      return [
        isMany ? 'Files' : 'A file',
        ...(path.includes(EACH) ? ['the first for the first item of the list that has none, and so on'] : []),
        ...(accept.length > 0 ? [accept.slice(0, 10).join(', ')] : []),
        ...(most === undefined ? [] : [`at most ${mostText(most)}`]),
      ].join(', ');
  }
}

import { mostText, sizeText } from '../../policy/amounts.js';
import { countDown } from './clock.js';
import { byId, element, setText } from './dom.js';
import { whyNot } from './fits.js';
import { formWire } from './form-wire.js';
import type { Begun, PageData } from './page-data.js';
import { takeFiles } from './picking.js';
import { Row } from './row.js';
import { shown } from './shown.js';
import { CLOSED, type Closed, TEXTS } from './texts.js';
import { Transfer } from './transfer.js';
import { askOffset, isSame, tusWire } from './tus-wire.js';
import { watchTicket } from './watch.js';

/** Percent between two announcements to readers who cannot see the bar. */
const SAID_EVERY = 25;
/** An upload's own answer may come after the state that it causes. */
const OWN_ANSWER_MS = 10_000;
const REDRAW_MS = 1000;
const PUT_AWAY_MS = [300, 1000, 2000, 4000];
const ASK_MS = 10_000;

/** Files that one ticket takes. */
const MOST_FILES = 1;

const main = document.querySelector('main') as HTMLElement;
const data = JSON.parse(main.dataset.upload ?? '') as PageData;
const form = document.querySelector('form') as HTMLFormElement;
const problem = byId('problem', HTMLElement);
const list = byId('files', HTMLElement);
const drop = byId('drop', HTMLElement);
const said = byId('said', HTMLElement);

interface Listed {
  transfer: Transfer;
  row: Row;
  /** The last announced percentage. */
  told: number;
}

let listed: Listed[] = [];
let isClosed = false;
const endings: (() => void)[] = [];

/** Replaces the form but keeps its input, and with it everything that browsers and users know about it. */
function dress(): void {
  const input = form.querySelector('input') as HTMLInputElement;
  const label = element('label', { class: 'button', for: input.id }, TEXTS.choose);
  byId('choose', HTMLElement).append(input, label);
  byId('place', HTMLElement).remove();
  form.querySelector('button')?.remove();
  input.required = false;
  drop.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  const camera = document.getElementById('camera');
  takeFiles({
    inputs: camera instanceof HTMLInputElement ? [input, camera] : [input],
    target: main,
    onFiles: pick,
    onProblem: complain,
  });
}

function pick(files: readonly File[]): void {
  if (isClosed) return;
  if (isGoing()) {
    complain(TEXTS.busy);
    return;
  }
  if (files.length > MOST_FILES) {
    complain(TEXTS.tooMany(files.length));
    return;
  }
  problem.hidden = true;
  for (const { row, transfer } of listed) {
    transfer.end();
    row.remove();
  }
  listed = [];
  for (const file of files) add(file);
}

function add(file: File): void {
  const why = whyNot(file, data);
  if (why !== undefined) {
    complain(`${shown(file.name)}: ${why}`);
    drawPage();
    return;
  }
  const { begun } = data;
  const wire = data.isResumable ? tusWire(location.href, begun) : formWire(location.href);
  const transfer = new Transfer(file, wire, {
    onChange: () => draw(entry),
    onClosed: close,
  });
  const row = new Row(transfer, () => remove(entry));
  const entry: Listed = { transfer, row, told: 0 };
  listed.push(entry);
  list.append(row.item);
  drawPage();
  say(TEXTS.said.chosen(shown(file.name), sizeText(file.size)));
  if (begun && begun.offset > 0)
    note(isSame(file, begun) ? TEXTS.goesOnFrom(mostText(begun.offset)) : TEXTS.notTheSame(shown(begun.name)));
  row.focus();
}

function remove(entry: Listed): void {
  entry.transfer.end();
  entry.row.remove();
  listed = listed.filter((other) => other !== entry);
  problem.hidden = true;
  drawPage();
  form.querySelector('input')?.focus();
}

function draw(entry: Listed): void {
  if (isClosed) return;
  const { transfer, row } = entry;
  const before = document.title;
  row.draw();
  drawPage();
  if (transfer.phase === 'sending') sayPercent(entry);
  // once, not with every byte
  if (document.title !== before) {
    if (transfer.phase === 'paused') say(TEXTS.said.paused);
    if (transfer.phase === 'waiting') say(TEXTS.said.waiting);
  }
  if (transfer.phase === 'failed') complain(transfer.problem ?? TEXTS.refused);
  else problem.hidden = true;
  if (transfer.phase === 'done' && listed.every((other) => other.transfer.phase === 'done')) finish();
}

function sayPercent(entry: Listed): void {
  const percent = percentOf(entry.transfer);
  const step = Math.floor(percent / SAID_EVERY) * SAID_EVERY;
  if (step > entry.told && step < 100) say(TEXTS.said.percent(step));
  entry.told = Math.max(entry.told, step);
}

/** Draws everything that depends on the files' states: the choices, the title, and the warning before leaving. */
function drawPage(): void {
  list.hidden = listed.length === 0;
  drop.hidden = isGoing();
  drop.classList.toggle('small', listed.length > 0);
  main.classList.toggle('small', listed.length > 0);
  const label = drop.querySelector('label');
  if (label) {
    setText(label, listed.length > 0 ? TEXTS.chooseOther : TEXTS.choose);
    // after a refusal another file is the next step
    label.classList.toggle(
      'second',
      listed.some(({ transfer }) => transfer.phase !== 'failed'),
    );
  }
  const title = titleNow();
  const whole = `${title} · ${TEXTS.product}`;
  if (document.title !== whole) document.title = whole;
  removeEventListener('beforeunload', keepPage);
  if (listed.some(({ transfer }) => transfer.isBusy)) addEventListener('beforeunload', keepPage);
}

function titleNow(): string {
  const transfer = listed[0]?.transfer;
  switch (transfer?.phase) {
    case undefined:
    case 'cancelled':
      return TEXTS.upload;
    case 'ready':
      return TEXTS.chosen;
    case 'paused':
      return TEXTS.paused;
    case 'waiting':
      return TEXTS.titleWaiting;
    case 'failed':
      return TEXTS.failed;
    case 'done':
      return TEXTS.done;
    default:
      return TEXTS.sending(percentOf(transfer as Transfer));
  }
}

function percentOf({ sent, file }: Transfer): number {
  return file.size === 0 ? 0 : Math.min(99, Math.floor((sent / file.size) * 100));
}

function keepPage(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Shows what has arrived, once the server has stored the last bytes of the page before this one. */
async function tellBegun(begun: Begun): Promise<void> {
  for (const ms of PUT_AWAY_MS) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (listed.length > 0 || isClosed) return;
    const known = await askOffset(location.href, AbortSignal.timeout(ASK_MS)).catch(() => undefined);
    begun.offset = known?.offset ?? begun.offset;
    if (begun.offset > 0) break;
  }
  if (begun.offset > 0 && listed.length === 0 && !isClosed)
    note(TEXTS.partly(shown(begun.name), mostText(begun.offset)));
}

/** Shows information that is not an error. */
function note(text: string): void {
  const place = byId('begun', HTMLElement);
  setText(place, text);
  place.hidden = false;
}

/** Announces an error, and moves the focus to it. */
function complain(text: string): void {
  problem.replaceChildren(element('p', { dir: 'auto' }, text));
  problem.hidden = false;
  problem.focus();
}

function say(text: string): void {
  setText(said, text);
}

/** All files have arrived. */
function finish(): void {
  const facts = listed.flatMap(({ transfer: { file } }) => [
    element('dt', {}, TEXTS.file),
    element('dd', {}, element('bdi', {}, shown(file.name))),
    element('dt', {}, TEXTS.size),
    element('dd', {}, sizeText(file.size)),
  ]);
  showState('good', TEXTS.done, TEXTS.doneText, element('dl', {}, ...facts));
}

/** Nothing can be uploaded here any more. */
function close(closed: Closed): void {
  const { mood, title, text } = CLOSED[closed];
  showState(mood, title, text);
}

function showState(mood: string, title: string, text: string, more?: HTMLElement): void {
  if (isClosed) return;
  isClosed = true;
  removeEventListener('beforeunload', keepPage);
  for (const end of endings) end();
  for (const { transfer, row } of listed) {
    transfer.end();
    row.remove();
  }
  const heading = element('h1', { tabindex: '-1' }, title);
  const brand = main.querySelector('.brand');
  const state = element('div', { class: `state ${mood}` }, heading, element('p', {}, text));
  main.replaceChildren(...(brand ? [brand] : []), state, ...(more ? [more] : []));
  document.title = `${title} · ${TEXTS.product}`;
  heading.focus();
}

/** An upload that has begun may finish, even after the link has expired. */
const isGoing = () => listed.some(({ transfer }) => transfer.isBusy || transfer.phase === 'paused');

function watch(): void {
  endings.push(
    watchTicket((status) => {
      if (status === 'open' || (status === 'expired' && isGoing())) return;
      if (status !== 'completed') close(status);
      // this page may be the one that completed it
      else if (listed.some(({ transfer }) => transfer.mayBeStored)) setTimeout(() => close('done'), OWN_ANSWER_MS);
      else close('done');
    }),
  );
}

function startClock(): void {
  const time = document.querySelector('time');
  const left = byId('left', HTMLElement);
  if (time) {
    const onEnd = () => {
      if (!isGoing()) close('expired');
    };
    endings.push(countDown(data.expiresAt, data.now, { time, left, say, onEnd }));
  }
}

dress();
if (data.begun) void tellBegun(data.begun);
startClock();
watch();
const redraw = setInterval(() => {
  for (const { transfer, row } of listed) if (transfer.isBusy) row.draw();
}, REDRAW_MS);
endings.push(() => clearInterval(redraw));

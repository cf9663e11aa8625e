import { mostText, sizeText } from '../../policy/amounts.js';
import { AllFiles, hasTurn, whyNotAll } from './all-files.js';
import { countDown } from './clock.js';
import { ComeFile } from './come-file.js';
import { byId, element, setText, term } from './dom.js';
import { addressedWire, FileAddress, finishAll } from './file-address.js';
import { fewOf, whyNot } from './fits.js';
import { formWire } from './form-wire.js';
import type { Begun, Come, PageData } from './page-data.js';
import { takeFiles } from './picking.js';
import { Row } from './row.js';
import { Said } from './said.js';
import { shownName } from './shown.js';
import { CLOSED, type Closed, TEXTS } from './texts.js';
import { percentOf, titleOf } from './title.js';
import { type Shown, Transfer } from './transfer.js';
import { askOffset, begunUrl, isSame, tusWire } from './tus-wire.js';
import { watchTicket } from './watch.js';
import { Later, Refused, type Wire } from './wire.js';

/** Percent between two announcements to readers who cannot see the bar. */
const SAID_EVERY = 25;
/** An upload's own answer may come after the state that it causes. */
const OWN_ANSWER_MS = 10_000;
const REDRAW_MS = 1000;
const PUT_AWAY_MS = [300, 1000, 2000, 4000];
const ASK_MS = 10_000;

const main = document.querySelector('main') as HTMLElement;
const data = JSON.parse(main.dataset.upload ?? '') as PageData;
const form = document.querySelector('form') as HTMLFormElement;
const problem = byId('problem', HTMLElement);
const list = byId('files', HTMLElement);
const drop = byId('drop', HTMLElement);
const said = new Said(byId('said', HTMLElement));
const say = (text: string) => said.say(text);

const { several } = data;
const words = several ? TEXTS.several : TEXTS.one;

interface Listed {
  shown: Shown;
  row: Row;
  /** Of one of several files. */
  address?: FileAddress;
}

let listed: Listed[] = [];
let isClosed = false;
/** All files are there, as this page has said. */
let isFinishing = false;
/** The last announced percentage. */
let told = 0;
/** Whose error is shown. */
let complainer: Shown | undefined;
const all = several && new AllFiles(several, { onStart: startAll, onFinish: () => void finishSeveral() });
const shownFiles = () => listed.map((entry) => entry.shown);
const endings: (() => void)[] = [];

/** Replaces the form but keeps its input, and with it everything that browsers and users know about it. */
function dress(): void {
  const input = form.querySelector('input') as HTMLInputElement;
  const label = element('label', { class: 'button', for: input.id }, words.choose);
  byId('choose', HTMLElement).append(input, label);
  byId('place', HTMLElement).remove();
  form.querySelector('button')?.remove();
  input.required = false;
  drop.hidden = false;
  main.classList.toggle('several', several !== undefined);
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
  if (isClosed || isFinishing) return;
  if (several) {
    // a file of which a part has come takes that one's place
    const gone = new Set<Shown | undefined>(files.map((file) => begunBefore(file)));
    const others = shownFiles().filter((one) => !gone.has(one));
    const why = whyNotAll(files, others, several);
    if (why === undefined) addAll(files);
    else complain(why);
    return;
  }
  if (isGoing()) complain(TEXTS.busy);
  else if (files.length > 1) complain(TEXTS.tooMany(files.length));
  else {
    for (const entry of listed) discard(entry);
    listed = [];
    told = 0;
    addAll(files);
  }
}

function addAll(files: readonly File[]): void {
  clearProblem();
  const refused: string[] = [];
  const added: Listed[] = [];
  for (const file of files) {
    const why = whyNot(file, data);
    if (why === undefined) added.push(several ? addOfSeveral(file) : addOnly(file));
    else refused.push(`${shownName(file.name)}: ${why}`);
  }
  drawPage();
  const [first] = added;
  if (added.length > 1) said.sayChosen(TEXTS.said.chosenSeveral(added.length));
  else if (first) said.sayChosen(TEXTS.said.chosen(shownName(first.shown.file.name), sizeText(first.shown.file.size)));
  if (refused.length > 0) complain(...fewOf(refused));
  else if (!(added.length > 1 && all?.focus())) first?.row.focus();
}

/** The only file: it is sent to the page's own address. */
function addOnly(file: File): Listed {
  const { begun } = data;
  if (begun && begun.offset > 0)
    note(isSame(file, begun) ? TEXTS.goesOnFrom(mostText(begun.offset)) : TEXTS.notTheSame(shownName(begun.name)));
  return enlist(file, wireAt(location.href, begun), {});
}

/** One of several: it is sent to an address of its own, or to that of its beginning. */
function addOfSeveral(file: File): Listed {
  const before = begunBefore(file);
  if (before) {
    const entry = listed.find((one) => one.shown === before) as Listed;
    listed = listed.filter((other) => other !== entry);
    entry.row.remove();
  }
  const address = new FileAddress(location.href, before?.come);
  return enlist(
    file,
    addressedWire(address, (url) => wireAt(url, before?.come)),
    { address },
  );
}

function begunBefore(file: File): ComeFile | undefined {
  return listed
    .map((entry) => entry.shown)
    .find((one): one is ComeFile => one instanceof ComeFile && one.phase === 'partly' && isSame(file, one.come));
}

function wireAt(url: string, begun: Begun | undefined): Wire {
  return data.isResumable ? tusWire(url, begun) : formWire(url);
}

/** Puts a file into the list. */
function enlist(file: File, wire: Wire, more: Pick<Listed, 'address'>): Listed {
  const transfer: Transfer = new Transfer(file, wire, {
    mayBegin: () => !several || hasTurn(shownFiles()),
    onChange: () => draw(entry),
    onClosed: (closed) => {
      // of several only this one cannot be sent there; of the page itself its state is asked for
      if (!several) return close(closed);
      more.address?.forget();
      transfer.refuse(CLOSED[closed].text);
    },
  });
  const entry: Listed = {
    shown: transfer,
    row: new Row(transfer, () => remove(entry), several !== undefined),
    ...more,
  };
  listed.push(entry);
  list.append(entry.row.item);
  return entry;
}

/** Shows what came of several files before the page was opened. */
function showCome(come: readonly Come[]): void {
  for (const one of come) {
    const file = new ComeFile(one);
    const address = new FileAddress(location.href, one);
    const entry: Listed = { shown: file, row: new Row(file, () => remove(entry), true), address };
    listed.push(entry);
    list.append(entry.row.item);
  }
  drawPage();
}

function discard({ shown: one, row }: Listed): void {
  one.end();
  row.remove();
}

function remove(entry: Listed): void {
  discard(entry);
  // what cannot be told is removed with the link
  entry.address?.remove().catch(() => undefined);
  listed = listed.filter((other) => other !== entry);
  said.unsayChosen();
  clearProblem();
  drawPage();
  form.querySelector('input')?.focus();
}

function startAll(): void {
  for (const one of shownFiles()) if (one.phase === 'ready') one.start();
  listed.find((entry) => entry.shown.isBusy)?.row.focus();
}

function draw(entry: Listed): void {
  if (isClosed) return;
  const { shown: one, row } = entry;
  const before = document.title;
  row.draw();
  drawPage();
  if (one.phase !== 'ready') said.unsayChosen();
  if (one.phase === 'sending') sayPercent();
  // once, not with every byte
  if (document.title !== before) {
    if (one.phase === 'paused') say(TEXTS.said.paused);
    if (one.phase === 'waiting') say(TEXTS.said.waiting(one.problem ?? TEXTS.lost));
  }
  if (one.phase === 'failed') {
    complain(several ? `${shownName(one.file.name)}: ${one.problem ?? TEXTS.refused}` : (one.problem ?? TEXTS.refused));
    complainer = one;
  } else if (!several || complainer === one) clearProblem();
  if (one.phase === 'done' && !several) finish();
  if (one.phase === 'done' && several) {
    say(TEXTS.said.arrived(shownName(one.file.name)));
    if (!listed.some((other) => other.shown.isBusy)) all?.focus();
  }
  const next = shownFiles().find(({ phase }) => phase === 'queued');
  if (next && hasTurn(shownFiles())) next.start();
}

function sayPercent(): void {
  const percent = percentOf(shownFiles());
  const step = Math.floor(percent / SAID_EVERY) * SAID_EVERY;
  if (step > told && step < 100) say(TEXTS.said.percent(step));
  // less than before: it has begun again, or there are more files
  told = step;
}

/** Draws everything that depends on the files' states: the choices, the title, and the warning before leaving. */
function drawPage(): void {
  list.hidden = listed.length === 0;
  drop.hidden = !several && isGoing();
  drop.classList.toggle('small', listed.length > 0);
  main.classList.toggle('small', listed.length > 0);
  const label = drop.querySelector('label');
  if (label) {
    setText(label, listed.length > 0 ? words.chooseMore : words.choose);
    // after a refusal another file is the next step
    label.classList.toggle(
      'second',
      shownFiles().some(({ phase }) => phase !== 'failed'),
    );
  }
  all?.draw(shownFiles(), isFinishing);
  const whole = `${titleOf(shownFiles(), words)} · ${TEXTS.product}`;
  if (document.title !== whole) document.title = whole;
  removeEventListener('beforeunload', keepPage);
  if (shownFiles().some((one) => one.isBusy)) addEventListener('beforeunload', keepPage);
}

function keepPage(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Shows what has arrived, once the server has stored the last bytes of the page before this one. */
async function tellBegun(begun: Begun): Promise<void> {
  for (const ms of PUT_AWAY_MS) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (listed.length > 0 || isClosed) return;
    const known = await askOffset(begunUrl(location.href, begun), AbortSignal.timeout(ASK_MS)).catch(() => undefined);
    begun.offset = known?.offset ?? begun.offset;
    if (begun.offset > 0) break;
  }
  if (begun.offset > 0 && listed.length === 0 && !isClosed)
    note(TEXTS.partly(shownName(begun.name), mostText(begun.offset)));
}

/** Shows information that is not an error. */
function note(text: string): void {
  const place = byId('begun', HTMLElement);
  setText(place, text);
  place.hidden = false;
}

/** Announces errors, and moves the focus to them. */
function complain(...texts: string[]): void {
  complainer = undefined;
  problem.replaceChildren(...texts.map((text) => element('p', { dir: 'auto' }, text)));
  problem.hidden = false;
  problem.focus();
}

function clearProblem(): void {
  complainer = undefined;
  problem.hidden = true;
}

/** Says that all of several files are there. */
async function finishSeveral(): Promise<void> {
  const ids = listed.flatMap((entry) => (entry.shown.phase === 'done' ? (entry.address?.id ?? []) : []));
  isFinishing = true;
  drawPage();
  try {
    await finishAll(location.href, ids, AbortSignal.timeout(ASK_MS));
    const given = listed.filter((entry) => ids.includes(entry.address?.id ?? ''));
    for (const entry of listed) if (!given.includes(entry)) discard(entry);
    listed = given;
    finish();
  } catch (thrown) {
    isFinishing = false;
    drawPage();
    if (thrown instanceof Refused && thrown.closed !== undefined) close(thrown.closed);
    else
      complain(
        thrown instanceof Refused
          ? thrown.message
          : TEXTS.notFinished(thrown instanceof Later ? thrown.message : undefined),
      );
  }
}

/** All files have arrived. */
function finish(): void {
  const facts = shownFiles().flatMap(({ file }) => {
    const name = element('bdi', {}, shownName(file.name));
    const size = sizeText(file.size);
    return several ? term(name, size) : [...term(TEXTS.file, name), ...term(TEXTS.size, size)];
  });
  const text = several ? TEXTS.doneSeveral(listed.length) : TEXTS.doneText;
  showState('good', TEXTS.done, text, element('dl', {}, ...facts));
}

/** Nothing can be uploaded here from now on. */
function close(closed: Closed): void {
  const { mood, title, text } = CLOSED[closed];
  showState(mood, title, text);
}

function showState(mood: string, title: string, text: string, more?: HTMLElement): void {
  if (isClosed) return;
  isClosed = true;
  removeEventListener('beforeunload', keepPage);
  for (const end of endings) end();
  for (const entry of listed) discard(entry);
  const heading = element('h1', { tabindex: '-1' }, title);
  const brand = main.querySelector('.brand');
  const state = element('div', { class: `state ${mood}` }, heading, element('p', {}, text));
  main.replaceChildren(...(brand ? [brand] : []), state, ...(more ? [more] : []));
  document.title = `${title} · ${TEXTS.product}`;
  heading.focus();
}

/** An upload that has begun may finish, even after the link has expired. */
const isGoing = () => shownFiles().some((one) => one.isBusy || one.phase === 'paused');

/** So may several, of which enough have arrived, be given then. */
const mayOutlive = () => isGoing() || all?.isEnough(shownFiles());

function watch(): void {
  endings.push(
    watchTicket((status) => {
      if (status === 'open' || (status === 'expired' && mayOutlive())) return;
      if (status !== 'completed') close(status);
      // this page may be the one that completed it
      else if (isFinishing || (!several && shownFiles().some((one) => one.mayBeStored)))
        setTimeout(() => close('done'), OWN_ANSWER_MS);
      else close('done');
    }),
  );
}

function startClock(): void {
  const time = document.querySelector('time');
  const left = byId('left', HTMLElement);
  if (time) {
    const onEnd = () => {
      if (!mayOutlive()) close('expired');
    };
    endings.push(countDown(data.expiresAt, data.now, { time, left, say, onEnd }));
  }
}

dress();
if (data.begun) void tellBegun(data.begun);
if (several) showCome(several.come);
startClock();
watch();
const redraw = setInterval(() => {
  for (const entry of listed) if (entry.shown.isBusy) entry.row.draw();
}, REDRAW_MS);
endings.push(() => clearInterval(redraw));

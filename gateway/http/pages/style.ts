/** The style of every page: one text, so that its hash in the policy is all that lets a style in. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #16202c; --soft: #536172; --line: #dbe2ea; --edge: #75859a; --paper: #fff; --ground: #f1f4f8; --tint: #f6f9fc; --sea: #0a5a88; --deep: #084a70; --bad: #a3261d; --good: #1b6e3c; --on: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8edf2; --soft: #a5b4c3; --line: #333f4c; --edge: #7f90a1; --paper: #1a222b; --ground: #11171d; --tint: #202a34; --sea: #6db9e4; --deep: #93cdee; --bad: #ff9d94; --good: #7fd6a0; --on: #0f1820 }
}
* { box-sizing: border-box }
[hidden] { display: none !important }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; grid-template-columns: minmax(0, 1fr); place-items: center; padding: 2rem 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif }
main { width: 100%; max-width: 36rem; padding: 1.5rem 2rem 1.75rem; background: var(--paper); border: 1px solid var(--line); border-radius: 1rem; box-shadow: 0 1px 2px rgb(16 32 48 / 6%), 0 12px 32px rgb(16 32 48 / 7%); overflow-wrap: anywhere }
.brand { display: flex; align-items: center; gap: .5rem; margin: 0 0 1.25rem; color: var(--soft); font-size: .875rem; font-weight: 600; letter-spacing: .01em }
.brand svg { flex: none; color: var(--sea) }
h1 { margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em }
h1:focus, .problem:focus { outline: none }
h2 { margin: 0; font-size: 1rem }
p { margin: .5rem 0 }
.lead { margin: 0 0 1rem }
.message { margin: 1rem 0; padding: .625rem 1rem; border-inline-start: 3px solid var(--sea); background: var(--tint); border-radius: 0 .5rem .5rem 0 }
.message cite { display: block; color: var(--soft); font-size: .8125rem; font-style: normal }
.message p { margin: 0; white-space: pre-line }
dl { display: grid; grid-template-columns: minmax(7.5rem, max-content) 1fr; margin: 1rem 0; font-size: .9375rem }
dt, dd { margin: 0; padding: .4375rem 0; border-top: 1px solid var(--line) }
dt { padding-inline-end: 1.25rem; color: var(--soft) }
dd small { color: var(--soft); font-size: inherit; white-space: nowrap }
code { font: .875em ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace }
summary { min-height: 1.5rem; padding: .25rem 0; color: var(--soft); cursor: pointer }
section { display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: center; margin: 1.5rem 0 0 }
section > p, section > pre { grid-column: 1 / -1; margin: .25rem 0 0; color: var(--soft) }
section > pre { margin: .5rem 0 0; color: inherit; padding: .625rem .875rem; border: 1px solid var(--line); border-radius: .625rem; background: var(--tint); white-space: pre-wrap; overflow-wrap: anywhere }
.copy { min-height: 2rem; padding: 0 .875rem }
.note { margin: 1.25rem 0 0; color: var(--soft); font-size: .8125rem }

form { margin: 1.25rem 0 0 }
label.plain { display: block; margin: 0 0 .375rem; font-weight: 600 }
input.code { width: 12rem; max-width: 100%; padding: .625rem .75rem; border: 1px solid var(--edge); border-radius: .625rem; background: var(--tint); color: inherit; font: inherit; font-size: 1.25rem; letter-spacing: .1em; text-transform: uppercase }
input[type=file] { width: 100%; padding: .75rem; border: 1px solid var(--edge); border-radius: .625rem; background: var(--tint); color: inherit; font: inherit }
::file-selector-button { min-height: 2.25rem; margin-inline-end: .75rem; padding: .25rem .875rem; border: 1px solid var(--edge); border-radius: .5rem; background: var(--paper); color: var(--ink); font: inherit; font-weight: 600; cursor: pointer }
button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: 2.75rem; padding: .5rem 1.25rem; border: 1px solid var(--sea); border-radius: .625rem; background: var(--sea); color: var(--on); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer }
button:hover, .button:hover { background: var(--deep); border-color: var(--deep) }
.second { background: transparent; border-color: var(--edge); color: var(--ink) }
.second:hover { background: var(--tint); border-color: var(--ink) }
form > button { margin-top: 1rem; width: 100% }
a { color: var(--sea) }
:focus-visible { outline: 3px solid var(--sea); outline-offset: 2px }
h1:focus-visible, li:focus-visible, .problem:focus-visible { outline: none }

.drop { position: relative; padding: 1.75rem 1rem 1.5rem; border: 2px dashed var(--edge); border-radius: .875rem; background: var(--tint); text-align: center; transition: background-color .15s, border-color .15s }
.drop > svg { display: block; margin: 0 auto .75rem; color: var(--sea) }
.drop .choices { display: flex; flex-wrap: wrap; justify-content: center; gap: .625rem }
.drop p { margin: .625rem 0 0; color: var(--soft); font-size: .9375rem }
.drop input { position: absolute; inset: 0; width: 1px; height: 1px; padding: 0; border: 0; opacity: 0; overflow: hidden; pointer-events: none }
.drop input:focus-visible + .button { outline: 3px solid var(--sea); outline-offset: 2px }
.over .drop { border-style: solid; border-color: var(--sea); background: color-mix(in srgb, var(--sea) 12%, var(--paper)) }
#choose { display: contents }
.small .drop { padding: 0; border-color: transparent; background: none }
.small .drop > svg, .small .drop p { display: none }
.small form { margin-top: .75rem }
.camera { display: none }
@media (pointer: coarse) { .camera { display: contents } .drop p { display: none } }

.problem { margin: 1rem 0 0; padding: .75rem 1rem; border: 1px solid var(--bad); border-radius: .625rem; color: var(--bad) }
.problem p { margin: 0 }
.files { list-style: none; margin: 1rem 0 0; padding: 0; display: grid; gap: .75rem }
.files > li { display: grid; grid-template-columns: 3.5rem minmax(0, 1fr); gap: .25rem .875rem; padding: .875rem; border: 1px solid var(--line); border-radius: .875rem }
.thumb { grid-row: span 3; width: 3.5rem; height: 3.5rem; display: grid; place-items: center; border-radius: .5rem; background: var(--ground); color: var(--soft); font-size: .6875rem; font-weight: 700; letter-spacing: .03em; overflow: hidden; text-transform: uppercase }
.thumb img { width: 100%; height: 100%; object-fit: cover }
.name { font-weight: 600 }
.facts { color: var(--soft); font-size: .875rem; font-variant-numeric: tabular-nums }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .5rem; grid-column: 2 }
.actions button { min-height: 2.5rem; padding: .375rem 1rem }
progress { grid-column: 2; width: 100%; height: .5rem; margin: .25rem 0; border: 0; border-radius: .25rem; overflow: hidden; appearance: none; background: var(--line); color: var(--sea) }
progress::-webkit-progress-bar { background: var(--line) }
progress::-webkit-progress-value { background: var(--sea); border-radius: .25rem; transition: width .2s linear }
progress::-moz-progress-bar { background: var(--sea); border-radius: .25rem }
.stalled progress::-webkit-progress-value { background: var(--edge) }
.stalled progress::-moz-progress-bar { background: var(--edge) }

.all { margin: 1rem 0 0; padding: 1rem 0 0; border-top: 1px solid var(--line) }
.all p { margin: 0; color: var(--soft); font-size: .9375rem }
.all button { flex: 1 }

.several .failed .facts { color: var(--bad) }
@media (min-width: 36.01rem) {
  .several .files { gap: .5rem }
  .several .files > li { grid-template-columns: 3.5rem minmax(0, 1fr) auto; align-items: center; padding: .625rem .875rem }
  .several .files .thumb { grid-row: 1 / span 3 }
  .several .files .actions { grid-column: 3; grid-row: 1 / span 3; margin: 0 }
  .several .files progress { grid-column: 2 }
  .several .files .failed .facts, .several .files .failed .actions { grid-column: 2 / -1 }
  .several .files .failed .actions { grid-row: auto; margin-top: .375rem }
}

.good::before, .bad::before, .calm::before { display: grid; place-items: center; width: 3rem; height: 3rem; margin: .25rem auto 1rem; border-radius: 50%; font-size: 1.375rem; font-weight: 700; color: var(--paper) }
.good::before { content: "✓"; content: "✓" / ""; background: var(--good) }
.bad::before { content: "!"; content: "!" / ""; background: var(--bad) }
.calm::before { content: "–"; content: "–" / ""; background: var(--soft) }
.state { text-align: center; padding-bottom: .5rem }
.state p { max-width: 28rem; margin-inline: auto; color: var(--soft) }
.state .button { margin-top: .5rem }
.out { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }

@media (max-width: 36rem) {
  body { padding: 0; place-items: stretch; background: var(--paper) }
  main { padding: 1.25rem 1.25rem 2rem; border: 0; border-radius: 0; box-shadow: none }
  .drop .button { width: 100% }
  .files > li { padding: .75rem }
  .actions { grid-column: 1 / -1 }
  .actions button { flex: 1 1 auto; padding-inline: .5rem }
}
@media (max-width: 22rem) {
  dl { grid-template-columns: 1fr }
  dt { padding-bottom: 0 }
  dd { border-top: 0; padding-top: 0 }
  .files > li { grid-template-columns: minmax(0, 1fr) }
  .thumb { grid-row: auto }
  progress, .actions { grid-column: 1 }
  .drop, button, .button { padding-inline: .5rem }
}
@media (prefers-reduced-motion: reduce) { *, ::before, ::-webkit-progress-value { transition: none !important } }
@media (forced-colors: active) {
  progress { height: .75rem; border: 1px solid CanvasText; background: Canvas; forced-color-adjust: none }
  progress::-webkit-progress-bar { background: Canvas }
  progress::-webkit-progress-value, .stalled progress::-webkit-progress-value { background: Highlight }
  progress::-moz-progress-bar, .stalled progress::-moz-progress-bar { background: Highlight }
  .button, button, .good::before, .bad::before, .calm::before { border: 1px solid ButtonText }
  .over .drop { border-color: Highlight }
  .small .drop { border: 0 }
}
`;

/** The style of the console: one text, so that its hash in the policy is all that lets a style in. */
export const CONSOLE_STYLE = `
:root { color-scheme: light dark; --ink: #16202c; --soft: #536172; --line: #dbe2ea; --paper: #fff; --ground: #f1f4f8; --sea: #0a5a88; --deep: #084a70; --bad: #a3261d; --good: #1b6e3c; --on: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8edf2; --soft: #a5b4c3; --line: #333f4c; --paper: #1a222b; --ground: #11171d; --sea: #6db9e4; --deep: #93cdee; --bad: #ff9d94; --good: #7fd6a0; --on: #0f1820 }
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; background: var(--ground); color: var(--ink); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding: .75rem 1.5rem; background: var(--paper); border-bottom: 1px solid var(--line) }
.brand { display: flex; align-items: center; gap: .5rem; margin: 0; font-size: 1rem; font-weight: 600 }
.brand svg { flex: none; color: var(--sea) }
nav { display: flex; flex-wrap: wrap; gap: .25rem }
nav a { padding: .375rem .75rem; border-radius: .5rem; color: var(--ink); text-decoration: none }
nav a:hover { background: var(--ground) }
nav a[aria-current] { background: var(--ground); font-weight: 600 }
header form { margin-inline-start: auto; display: flex; align-items: center; gap: .75rem; color: var(--soft) }
main { max-width: 80rem; margin: 0 auto; padding: 1.5rem }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25 }
h2 { margin: 2rem 0 .5rem; font-size: 1.0625rem }
p { margin: .5rem 0 }
.soft { color: var(--soft) }
.good { color: var(--good) }
.bad { color: var(--bad) }
.banner { padding: .875rem 1.125rem; border: 1px solid var(--good); border-radius: .75rem; background: var(--paper) }
.banner.wrong { border-color: var(--bad) }
.banner p, .banner ul { margin: 0 }
.banner strong { color: var(--good) }
.banner.wrong strong { color: var(--bad) }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .75rem; margin: 1rem 0 0; padding: 0; list-style: none }
.tiles li { padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--paper) }
.tiles b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: .75rem; background: var(--paper) }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .5rem .875rem; border-top: 1px solid var(--line); text-align: start; vertical-align: top }
thead th { border-top: 0; color: var(--soft); font-weight: 600; white-space: nowrap }
td { min-width: 5rem; overflow-wrap: break-word }
td code { display: inline-block; max-width: 32ch; overflow-wrap: break-word }
td bdi { display: inline-block; max-width: 24ch; overflow-wrap: break-word }
td .whole, td summary, td button { white-space: nowrap }
time { white-space: nowrap }
code { font: .875em ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace }
button { min-height: 2rem; padding: .25rem .875rem; border: 1px solid var(--sea); border-radius: .5rem; background: var(--sea); color: var(--on); font: inherit; font-weight: 600; cursor: pointer }
button:hover { background: var(--deep); border-color: var(--deep) }
.second { border-color: var(--soft); background: transparent; color: var(--ink) }
.second:hover { background: var(--ground) }
td form { display: flex; flex-wrap: wrap; gap: .25rem .75rem; margin: 0 }
td details { margin: 0 }
td details[open] { width: 100% }
.search { display: flex; flex-wrap: wrap; align-items: end; gap: .75rem; margin: 0 0 1rem }
.search label { flex: 1 1 10rem; font-weight: 600 }
.search input, .search select { display: block; width: 100%; min-height: 2.25rem; padding: .25rem .625rem; border: 1px solid var(--soft); border-radius: .5rem; background: var(--paper); color: inherit; font: inherit }
.login { max-width: 24rem; margin: 10vh auto 0; padding: 1.5rem 2rem 2rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--paper) }
.login label { display: block; margin: 1rem 0 .375rem; font-weight: 600 }
.login input { width: 100%; padding: .5rem .75rem; border: 1px solid var(--soft); border-radius: .5rem; background: var(--paper); color: inherit; font: inherit }
.login button { width: 100%; margin-top: 1rem; min-height: 2.5rem }
.problem { padding: .625rem .875rem; border: 1px solid var(--bad); border-radius: .5rem; color: var(--bad) }
.problem p { margin: 0 } .problem p + p { margin-top: .375rem; color: var(--ink) }
a { color: var(--sea) }
h1, .said { overflow-wrap: anywhere; unicode-bidi: isolate }
h3 { margin: 1.25rem 0 .375rem; font-size: .9375rem; overflow-wrap: anywhere }
.said { white-space: pre-line }
pre { max-height: 32rem; margin: 0; padding: .75rem 1rem; overflow: auto; border: 1px solid var(--line); border-radius: .75rem; background: var(--paper); font: .8125rem/1.5 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2 }
main img { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: .75rem }
li code, p code { overflow-wrap: anywhere }
.tools { margin: .75rem 0; padding: 0; list-style: none; border: 1px solid var(--line); border-radius: .75rem; background: var(--paper) }
.tools li { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem; padding: .75rem 1rem; border-top: 1px solid var(--line) }
.tools li:first-child { border-top: 0 }
.tools div { min-width: 0; overflow-wrap: anywhere }
.tools code { font-weight: 600 }
.tools p { margin: .125rem 0 0 }
.tools a { flex: none }
details { margin: 1rem 0 }
summary { width: fit-content; padding: .25rem 0; color: var(--sea); cursor: pointer }
.try { padding: 1.25rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--paper) }
.try label { display: block; margin: .25rem 0; font-weight: 600; overflow-wrap: anywhere }
.try label.soft { font-weight: 400 }
.try .field { margin: 0 0 1.25rem }
.try .field p { margin: .125rem 0 .375rem }
.try [type=text], .try textarea, .try select { display: block; width: 100%; min-height: 2.25rem; padding: .375rem .625rem; border: 1px solid var(--soft); border-radius: .5rem; background: var(--paper); color: inherit; font: inherit }
.try textarea { max-height: 24rem; field-sizing: content; resize: vertical }
.try [type=file] { max-width: 100%; padding: .25rem 0; color: inherit; font: inherit }
.try [aria-invalid], .search [aria-invalid] { border-color: var(--bad) }
.try .check { display: flex; align-items: center; gap: .5rem }
.check input { width: 1.125rem; height: 1.125rem; accent-color: var(--sea) }
:focus-visible { outline: 3px solid var(--sea); outline-offset: 2px }
@media (max-width: 40rem) { header { padding: .75rem 1rem } main { padding: 1rem } header form { margin-inline-start: 0 } }
`;

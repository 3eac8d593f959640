// How the API reference looks: readable on a wide screen and on a phone, in light and in dark, with what the system has.

export const referenceStyle = `
:root{color-scheme:light dark;--ink:light-dark(#1b2129,#e4e8ee);--soft:light-dark(#5a6472,#9aa5b4);--paper:light-dark(#fff,#12161b);
--panel:light-dark(#f5f7fa,#1a2027);--line:light-dark(#dce2e9,#2c343d);--link:light-dark(#0a56b3,#7db9ff);
--get:light-dark(#0b63bd,#1f6fc4);--post:light-dark(#1a7f37,#238a43);--put:light-dark(#8a5b00,#a06c0a);--delete:light-dark(#b92c38,#c43a46)}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;font:16px/1.6 system-ui,sans-serif;color:var(--ink);background:var(--paper);display:grid;grid-template-columns:18rem minmax(0,1fr)}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
a:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:4px}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.4rem 1.2rem;background:var(--panel);border-right:1px solid var(--line);font-size:.9rem}
nav h1{margin:0 0 1rem;font-size:1.05rem}nav ul{list-style:none;padding:0;margin:0 0 1.1rem}nav li{margin:.3rem 0;line-height:1.4}
nav b{font-size:.78rem;letter-spacing:.04em;text-transform:uppercase;color:var(--soft)}
main{padding:2rem 3rem 6rem;max-width:64rem}
h1,h2,h3{line-height:1.25}main>h1{margin:0 0 .8rem;font-size:2rem}
h2{margin:3.2rem 0 .6rem;font-size:1.45rem}h3{margin:0;font-size:1.12rem}
h4{margin:1.4rem 0 .3rem;font-size:.78rem;letter-spacing:.04em;text-transform:uppercase;color:var(--soft)}
p{margin:.6rem 0}small{color:var(--soft);font-size:.82em}
article{margin:1.2rem 0;padding:1.1rem 1.4rem 1.3rem;border:1px solid var(--line);border-radius:12px}
article:target{border-color:var(--link);box-shadow:0 0 0 1px var(--link)}
code,pre{font:.875em/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--panel)}
code{padding:.12em .35em;border-radius:5px;overflow-wrap:anywhere}
pre{margin:.8rem 0;padding:.8rem 1rem;border:1px solid var(--line);border-radius:8px;overflow-x:auto}
.call{display:flex;gap:.6rem;align-items:baseline;flex-wrap:wrap;margin:.5rem 0 .8rem}.call code{background:none;padding:0;font-size:.95em}
.call b{font:700 .74rem/1 ui-monospace,monospace;padding:.4em .65em;border-radius:6px;color:#fff}
b.get{background:var(--get)}b.post{background:var(--post)}b.put,b.patch{background:var(--put)}b.delete{background:var(--delete)}
dl{margin:0;border-top:1px solid var(--line)}
dl>div{display:grid;grid-template-columns:minmax(9rem,17rem) minmax(0,1fr);gap:.1rem 1.2rem;padding:.5rem 0;border-bottom:1px solid var(--line)}
dt small{display:block}dd{margin:0}dd dl{margin:.5rem 0 0 0;padding-left:.9rem;border-top:0;border-left:2px solid var(--line)}
dd dl>div{grid-template-columns:minmax(0,1fr);border:0;padding:.25rem 0}dd dl dt small{display:inline;margin-left:.4rem}
details{margin:.5rem 0}summary{cursor:pointer;color:var(--link)}details>dl{margin-top:.5rem}
.errors{display:flex;flex-wrap:wrap;gap:.4rem .5rem;margin:.3rem 0 0}.errors span{border:1px solid var(--line);border-radius:99px;padding:.05rem .7rem;font-size:.85rem}
.errors code{background:none;padding:0}.errors small{margin-right:.35rem}
@media(max-width:60rem){body{display:block}nav{position:static;height:auto;border:0;border-bottom:1px solid var(--line)}nav ul{columns:2;column-gap:1.5rem}
main{padding:1.4rem 1.1rem 4rem}article{padding:1rem}dl>div{grid-template-columns:minmax(0,1fr)}dt small{display:inline;margin-left:.4rem}}
@media(max-width:30rem){nav ul{columns:1}}
@media print{nav{display:none}body{display:block}}
`

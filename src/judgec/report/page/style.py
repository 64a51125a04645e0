"""The style sheet that all pages share: system fonts, one hue, light and dark, print, readable from 360 pixels up."""

STYLE = """
:root{color-scheme:light dark;--ink:light-dark(#1b1f24,#e6e8eb);--quiet:light-dark(#59636e,#9aa4af);
--line:light-dark(#d8dee4,#3a424b);--paper:light-dark(#fff,#14181d);--soft:light-dark(#f5f7f9,#1c2229);
--hue:light-dark(#1f6fb2,#6cb2ee);--alarm:light-dark(#a3261b,#ff9b8f);--good:light-dark(#1a7037,#6fd08c)}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1080px;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.6rem;line-height:1.2;margin:0;overflow-wrap:anywhere}h2{font-size:1.2rem;margin:2.2rem 0 .4rem}
h3{font-size:1rem;margin:1.2rem 0 .3rem;overflow-wrap:anywhere}
p{margin:.4rem 0;max-width:46rem}.quiet{color:var(--quiet);font-size:.9rem}
p,li,dd{overflow-wrap:anywhere}
.stamp{border:2px solid var(--alarm);color:var(--alarm);padding:.5rem .8rem;font-weight:600;border-radius:4px}
.wide{overflow-x:auto;margin:.5rem 0}
:focus-visible{outline:3px solid var(--hue);outline-offset:2px}
a{color:var(--hue)}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th{font-weight:600;color:var(--quiet)}th:first-child,td:first-child{text-align:left}
td:first-child{max-width:22rem;overflow:hidden;text-overflow:ellipsis}
.bar{position:relative;height:1.1rem}.bar *{position:absolute;top:50%}
.bar span{height:4px;margin-top:-2px;background:var(--hue);opacity:.55;border-radius:2px}
.bar i{width:10px;height:10px;margin:-5px 0 0 -5px;border-radius:50%;background:var(--hue)}
.bar s{top:-.3rem;height:1.7rem;border-left:1px solid var(--line)}
.heat td{padding:.15rem;text-align:center}
.heat td:first-child{padding:.15rem .6rem;text-align:left}
.heat td:last-child{text-align:right;padding-right:.6rem}
.cell{display:block;padding:.25rem .4rem;text-align:center;border-radius:3px;
background:color-mix(in srgb,var(--hue) calc(var(--heat)*.5),var(--paper))}
.heat th:not(:first-child):not(:last-child){text-align:center}
abbr{text-decoration:none}.notes{font-size:.9rem;color:var(--quiet);padding-left:1.2rem}
details{border:1px solid var(--line);border-radius:4px;margin:.35rem 0}
summary{cursor:pointer;padding:.45rem .7rem;overflow-wrap:anywhere}details[open]>summary{background:var(--soft)}
.in{padding:.2rem .7rem .8rem}
.answers{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:.6rem}
.answer{border:1px solid var(--line);border-radius:4px;padding:.5rem .7rem;min-width:0}
.answer :is(h3,h4){margin:0 0 .2rem;font-size:.95rem;overflow-wrap:anywhere}
.text{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.92rem;max-height:22rem;overflow-y:auto}
.reason{border-left:3px solid var(--hue);padding-left:.5rem;margin-top:.4rem;font-size:.88rem;color:var(--quiet);
overflow-wrap:anywhere}
.narrow td:first-child{min-width:9rem}
@media print{:root{color-scheme:light}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:0}body{font-size:12px}details,figure,.answer,tr{break-inside:avoid}h2,h3{break-after:avoid}
.wide,.text{overflow:visible;max-height:none}td,th{white-space:normal}nav{display:none}
details::details-content{content-visibility:visible;block-size:auto}}
"""

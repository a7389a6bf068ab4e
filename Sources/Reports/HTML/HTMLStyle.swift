/// The style sheet and the script of the HTML report.
enum HTMLStyle {
  /// Colors tell states apart, and so do letters beside names and the patterns of bars.
  static let sheet = """
    :root{--bg:#f4f6f8;--card:#fff;--ink:#1c2530;--dim:#66717e;--line:#e2e7ec;--grid:#edf0f3;--soft:#f4f6f8;
    --ok:#3f7fd1;--up:#9fbfe8;--bad:#d23c44;--run:#159588;--allow:#b8559c;--cancel:#8a7aa8;--skip:#b3bcc6;--crit:#e88a00;
    --wait:#c3cbd4;--slot:#a9b4c0;--pool:#b09a6c;--back:#d9a21b;--hatch:rgba(255,255,255,.5);
    --a0:#555;--a1:#c22f37;--a2:#2b7d35;--a3:#916500;--a4:#2563b8;--a5:#9a3f86;--a6:#0d7a80;--a7:#707070;
    --mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace}
    @media (prefers-color-scheme:dark){:root{--bg:#0f1419;--card:#171d24;--ink:#dfe6ed;--dim:#8b97a4;--line:#29323c;--grid:#212932;
    --soft:#10161c;--ok:#5a97e6;--up:#38577f;--bad:#ef5a62;--run:#2fb5a6;--allow:#d27bb8;--cancel:#a294c2;--skip:#4d5863;
    --crit:#ffab2e;--wait:#3f4a56;--slot:#5b6875;--pool:#8f7b4d;--back:#d9a21b;--hatch:rgba(15,20,25,.45);
    --a0:#8b97a4;--a1:#ff7b82;--a2:#6fca7a;--a3:#e0b04a;--a4:#7fb2f5;--a5:#dd8fca;--a6:#55c8cf;--a7:#c8d0d8}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--bg);color:var(--ink);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",
    Arial,sans-serif;font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}
    main{max-width:1360px;margin:0 auto;padding:28px 24px 64px}
    header{display:flex;flex-wrap:wrap;align-items:center;gap:4px 14px;margin:0 2px 20px}
    h1{font-size:26px;line-height:1.2;margin:0;letter-spacing:-.015em;overflow-wrap:anywhere}
    header p{flex-basis:100%;margin:0;color:var(--dim)}
    h2{font-size:15px;margin:0 0 10px;letter-spacing:-.005em}
    h3{font-size:12px;font-weight:500;color:var(--dim);margin:0 0 2px}
    code,pre,.job bdi,.nm bdi,.graph text{font-family:var(--mono)}
    code{font-size:.92em}
    .badge{padding:2px 11px 3px;border-radius:99px;font-weight:600;font-size:13px;color:#fff;background:var(--c)}
    .card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px 18px;min-width:0}
    .cards{display:grid;grid-template-columns:1fr 1.7fr 1.2fr 1.2fr;gap:14px;margin-bottom:14px}
    .cards strong{display:block;font-size:24px;font-weight:600;line-height:1.25;letter-spacing:-.02em}
    .cards small{font-size:14px;font-weight:400;color:var(--dim);letter-spacing:0}
    .cards p{margin:7px 0 0;color:var(--dim);font-size:12.5px}
    .wide{margin-bottom:14px}
    .two{display:grid;grid-template-columns:1fr 1fr;gap:14px;margin-bottom:14px;align-items:start}
    @media (max-width:900px){.cards,.two{grid-template-columns:1fr}main{padding:18px 12px}}
    .note{color:var(--dim);margin:0 0 10px;font-size:12.5px}
    .ok{--c:var(--ok)}.up-to-date{--c:var(--up)}.failed,.timed-out{--c:var(--bad)}.running,.serving,.stopping{--c:var(--run)}
    .allowed-to-fail{--c:var(--allow)}.cancelled{--c:var(--cancel)}.skipped,.waiting,.ready{--c:var(--skip)}
    .paused,.retrying{--c:var(--back)}.crit{--c:var(--crit)}
    .meter{display:flex;height:7px;border-radius:4px;overflow:hidden;background:var(--grid);margin-top:7px}
    .meter i{background:var(--c);min-width:1px}
    .chip{white-space:nowrap;margin-right:9px}
    .chip b,.job b,.nm b{color:var(--c);font-weight:700}
    .skipped b,.waiting b,.ready b,.up-to-date b{color:var(--dim)}
    a{color:inherit;text-decoration:none}.job b{display:inline-block;width:1.35em}
    .job bdi{font-size:12.5px;overflow-wrap:anywhere}.job:hover bdi{text-decoration:underline}
    .bar{display:flex;flex-wrap:wrap;gap:6px 16px;align-items:center;margin-bottom:10px}.bar h2{margin:0;flex:1}
    .tools{display:flex;flex-wrap:wrap;gap:6px 16px;align-items:center;color:var(--dim);font-size:12.5px}
    .tools[hidden]{display:none}.tools label{display:flex;align-items:center;gap:6px}
    .tools input[type=search]{font:inherit;color:var(--ink);background:var(--soft);border:1px solid var(--line);border-radius:6px;
    padding:3px 9px;width:190px}.tools input{accent-color:var(--ok)}
    .tl{--names:270px;overflow:auto;max-height:72vh;border:1px solid var(--line);border-radius:7px;overscroll-behavior:contain auto}
    .in{width:calc(var(--names) + (100% - var(--names))*var(--zoom,1));min-width:100%}
    .bl{content-visibility:auto;contain-intrinsic-size:auto calc(var(--rows)*22px)}
    .row{display:flex;height:22px;scroll-margin-top:30px}.row[hidden]{display:none}
    .row:hover .nm,.row:hover .ln{background-color:var(--soft)}
    .row:target .nm bdi{text-decoration:underline;text-decoration-color:var(--crit);text-decoration-thickness:2px}
    .nm{position:sticky;left:0;z-index:2;flex:0 0 var(--names);display:flex;align-items:center;gap:7px;padding:0 10px 0 9px;
    min-width:0;background:var(--card);border-right:1px solid var(--line)}
    .nm b{flex:0 0 1em;text-align:center}.nm bdi{flex:1;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-size:12px}
    .nm em{font-style:normal;font-size:11.5px;color:var(--dim)}.cp .nm bdi{font-weight:700}
    .ln{position:relative;flex:1;margin:0 10px 0 0;
    background:repeating-linear-gradient(90deg,var(--grid) 0 1px,transparent 1px var(--step))}
    .axis{position:sticky;top:0;z-index:3;height:26px;color:var(--dim);font-size:11.5px}
    .axis .nm,.axis .ln{background:var(--card);border-bottom:1px solid var(--line)}.axis .nm{z-index:4}
    .axis u{position:absolute;bottom:3px;text-decoration:none;padding-left:3px;border-left:1px solid var(--line)}
    .use{height:52px;color:var(--dim);font-size:11.5px}.use .nm,.use .ln{border-bottom:1px solid var(--line)}
    .use svg{position:absolute;inset:0;width:100%;height:100%}.area{fill:var(--ok);opacity:.33}
    .full{stroke:var(--slot);stroke-dasharray:3 3;vector-effect:non-scaling-stroke;fill:none}
    .ln i,.ln s,.key i,.key s{position:absolute;top:4px;height:14px;min-width:2px}
    .ln s,.key s{top:19px;height:2px;background:var(--crit);text-decoration:none}
    .x{background:var(--c);border-radius:2px}
    .x.failed{background:repeating-linear-gradient(135deg,var(--c) 0 4px,var(--hatch) 4px 6px),var(--c)}
    .x.allowed-to-fail{background:repeating-linear-gradient(45deg,var(--c) 0 4px,var(--hatch) 4px 6px),var(--c)}
    .x.cancelled{background:repeating-linear-gradient(90deg,var(--c) 0 4px,var(--hatch) 4px 6px),var(--c)}
    .wn{background:linear-gradient(var(--wait),var(--wait)) 0 50%/100% 1px no-repeat}
    .ws{background:repeating-linear-gradient(135deg,var(--slot) 0 1.5px,transparent 1.5px 5px)}
    .wp{background:repeating-linear-gradient(45deg,var(--pool) 0 2px,transparent 2px 5px)}
    .wa{background:repeating-linear-gradient(0deg,var(--wait) 0 1px,transparent 1px 4px)}
    .wc{background:radial-gradient(var(--slot) 1.2px,transparent 1.6px) 0 50%/5px 5px}
    .wb{background:repeating-linear-gradient(90deg,var(--back) 0 3px,transparent 3px 7px) 0 50%/auto 3px repeat-x}
    .wz{background:repeating-linear-gradient(90deg,var(--cancel) 0 2px,transparent 2px 4px)}
    .meter i.ws{background:repeating-linear-gradient(135deg,var(--slot) 0 1.5px,transparent 1.5px 5px)}
    .key{display:flex;flex-wrap:wrap;gap:4px 18px;margin:10px 0 0;color:var(--dim);font-size:12.5px}
    .key span{display:flex;align-items:center;gap:7px}.key i,.key s{position:static;width:26px}.key s{height:3px}
    table{border-collapse:collapse;width:100%}th{font-weight:500;font-size:12px;color:var(--dim);white-space:nowrap}
    th,td{padding:4px 10px;text-align:right;border-top:1px solid var(--grid)}thead th{border-top:0;padding-top:0}
    th:first-child,td:first-child,.l{text-align:left}th:first-child,td:first-child{padding-left:0}
    th:last-child,td:last-child{padding-right:0}td{white-space:nowrap}td:first-child{white-space:normal}
    .w{width:28%}td .meter{margin:0;display:inline-flex;width:calc(100% - 46px);vertical-align:1px}
    .pc{display:inline-block;width:44px}.two td .meter{width:100%}
    .fail{border-top:1px solid var(--grid);padding:8px 0;margin:0}.fail:first-of-type{border-top:0;padding-top:0}
    .fail:last-of-type{padding-bottom:0}summary{cursor:pointer}.why{color:var(--bad);margin-left:8px}
    .allowed-to-fail+.why{color:var(--allow)}
    pre{margin:8px 0;padding:11px 14px;background:var(--soft);border:1px solid var(--line);border-radius:7px;overflow:auto;font-size:12px;
    line-height:1.5;max-height:320px}
    .fail .note{margin:0}.fail code{overflow-wrap:anywhere}
    .graph{overflow:auto;max-height:76vh;border:1px solid var(--line);border-radius:7px;background:var(--soft)}
    .graph svg{display:block;margin:0 auto;max-width:100%;height:auto}
    .e{fill:none;stroke:var(--slot);stroke-width:1.2;opacity:.75}.e.cp{stroke:var(--crit);stroke-width:2.4;opacity:1}
    .n rect{fill:var(--card);stroke:var(--c);stroke-width:1.3}.n.cp>rect:first-of-type{stroke-width:2.6}
    .n.failed rect,.n.timed-out rect{stroke-dasharray:5 2}.n.skipped rect,.n.waiting rect{stroke-dasharray:2 3}
    .n rect.p{fill:var(--c);stroke:none}
    .n text{font-size:12px;fill:var(--ink)}.n .l{fill:var(--c);font-weight:700}.n.skipped .l,.n.waiting .l,.n.up-to-date .l{fill:var(--dim)}
    .n.cp text{font-weight:700}.n:hover rect{fill:var(--soft)}
    .a0{color:var(--a0)}.a1{color:var(--a1)}.a2{color:var(--a2)}.a3{color:var(--a3)}.a4{color:var(--a4)}.a5{color:var(--a5)}
    .a6{color:var(--a6)}.a7{color:var(--a7)}.ab{font-weight:700}
    @media (max-width:900px){.card{overflow-x:auto}.tl{--names:170px}.in{min-width:720px}td:first-child{min-width:150px}}
    @media print{.tl,.graph{max-height:none;overflow:visible}.tools{display:none}.bl{content-visibility:visible}}
    """

  /// The words for each class of a wait.
  private static let names = RunFigures.waitKinds.map { "\($0.css ?? ""):'\($0.phrase)'" }.joined(separator: ",")

  /// Filters the rows of the timeline, widens it, and says the time of a bar below the pointer.
  ///
  /// The page's policy names its hash; a test says the new one when it differs.
  static let script = """
    'use strict';
    const $=id=>document.getElementById(id),tl=$('tl');
    if(tl){
      const rows=[...tl.querySelectorAll('.row[id]')],length=+tl.dataset.length;
      const names={\(names)};
      const time=us=>{const s=us/1e6;if(s<60)return s.toFixed(s<1?3:1)+'s';
        const m=Math.floor(s/60);return m<60?m+'m'+String(Math.floor(s%60)).padStart(2,'0')+'s'
          :Math.floor(m/60)+'h'+String(m%60).padStart(2,'0')+'m'};
      const filter=()=>{const q=$('q').value.toLowerCase(),cp=$('cp')&&$('cp').checked;
        for(const r of rows)r.hidden=(cp&&!r.classList.contains('cp'))||(q!==''&&!r.firstChild.title.toLowerCase().includes(q));
        for(const b of tl.querySelectorAll('.bl'))b.style.setProperty('--rows',b.querySelectorAll('.row:not([hidden])').length)};
      $('q').addEventListener('input',filter);
      if($('cp'))$('cp').addEventListener('change',filter);
      $('z').addEventListener('input',e=>{const at=(tl.scrollLeft+tl.clientWidth/2)/tl.scrollWidth;
        tl.style.setProperty('--zoom',Math.pow(100,e.target.value/100));tl.scrollLeft=at*tl.scrollWidth-tl.clientWidth/2});
      tl.addEventListener('mouseover',e=>{const i=e.target;if(i.localName!=='i'||i.title)return;
        const from=parseFloat(i.style.left)*length/100,took=parseFloat(i.style.width)*length/100;
        i.title=(names[i.className]||i.className.slice(2).replaceAll('-',' '))+' '+time(took)+', from '+time(from)});
      $('tools').hidden=false;
    }
    """

  static let scriptHash = "wrbQmaQoHhp3iqLSW+ntKLYNhQT/BsAMW1GO/hwzDGE="
}

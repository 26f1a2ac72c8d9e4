// Draws schedules on canvases that share one time axis. Times are in time units, x in CSS pixels.
"use strict";
(() => {
  const root = document.getElementById("schedule");
  const content = JSON.parse(document.getElementById("schedule-data").textContent);
  const find = (name) => root.querySelector(`[data-${name}]`);
  const axis = { begin: 0, end: content.end };
  const AXIS = 22; // pixels of the scale below the last schedule
  const QUEUE = 46; // pixels of the strip of waiting requests
  const LEFT = 44;
  const SHADES = ["#fde725", "#b5de2b", "#6ece58", "#35b779", "#1f9e89", "#26828e", "#31688e", "#3e4989",
    "#482878", "#440154"]; // viridis backwards: light is short, dark is long, told apart in grey too
  const [SOFT, INK, BROKEN] = ["#5a5a5a", "#1b1b1b", "#c1121f"]; // on white whatever the page, as in pictures
  const longest = content.longest;

  // ---- data -------------------------------------------------------------------------------------

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  }

  /** Columns of one block, each `[name, constructor]`, in the order in which they were written. */
  async function columns(text, count, layout) {
    const packed = new Uint8Array(await unpack(text));
    let offset = 0;
    return Object.fromEntries(layout.map(([name, Kind]) => {
      const values = new Kind(count);
      const bytes = new Uint8Array(values.buffer);
      const width = Kind.BYTES_PER_ELEMENT;
      for (let place = 0; place < width; place += 1) { // first bytes of all values, then second ones
        for (let row = 0; row < count; row += 1) bytes[row * width + place] = packed[offset++];
      }
      return [name, values];
    }));
  }

  async function load() {
    const common = await columns(content.requests, content.count,
      [["release", Float64Array], ["length", Float64Array]]);
    const releases = Float64Array.from(common.release).sort();
    const loaded = [];
    for (const each of content.runs) {
      const run = await columns(each.columns, content.count,
        [["start", Float64Array], ["finish", Float64Array], ["admitted", Float64Array], ["slot", Int32Array]]);
      const order = Array.from(run.start.keys()).filter((row) => run.start[row] < content.end)
        .sort((a, b) => run.start[a] - run.start[b] || a - b);
      const slots = Array.from({ length: content.slots }, () => []);
      for (const row of order) slots[run.slot[row]].push(row);
      loaded.push({ ...each, ...common, ...run, order, bySlot: slots, releases,
        starts: Float64Array.from(run.start).sort() });
    }
    return loaded;
  }

  /** First place in `0 .. count` at which `after(place)` holds; it must hold from there on. */
  function search(count, after) {
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (after(middle)) high = middle; else low = middle + 1;
    }
    return low;
  }

  const waitingAt = (run, time) =>
    search(run.releases.length, (place) => run.releases[place] > time) -
    search(run.starts.length, (place) => run.starts[place] > time);

  function running(run, slot, time) {
    const rows = run.bySlot[slot];
    const row = rows[search(rows.length, (place) => run.start[rows[place]] > time) - 1];
    return row !== undefined && run.finish[row] > time ? row : undefined;
  }

  /** Distance in tokens between the furthest and the last request that run at a time: all have made a
   * token a step since they were admitted. */
  function gapAt(run, time) {
    let least = Infinity;
    let most = -Infinity;
    for (let slot = 0; slot < content.slots; slot += 1) {
      const row = running(run, slot, time);
      if (row === undefined) continue;
      least = Math.min(least, run.admitted[row]);
      most = Math.max(most, run.admitted[row]);
    }
    return most - least;
  }

  // ---- drawing ----------------------------------------------------------------------------------

  const shade = (tokens) =>
    SHADES[Math.min(SHADES.length - 1, Math.floor(SHADES.length * Math.sqrt(tokens / longest)))];
  const rowHeight = () => Math.max(1, Math.min(18, Math.floor(320 / content.slots)));
  const place = (panel, time) =>
    LEFT + (time - axis.begin) / (axis.end - axis.begin) * (panel.width - LEFT);
  const timeAt = (panel, x) =>
    axis.begin + (x - LEFT) / (panel.width - LEFT) * (axis.end - axis.begin);

  function prepare(panel) {
    const canvas = panel.canvas;
    const ratio = window.devicePixelRatio || 1;
    panel.width = canvas.clientWidth;
    panel.height = QUEUE + rowHeight() * content.slots + 8 + AXIS;
    canvas.style.height = `${panel.height}px`;
    canvas.width = Math.round(panel.width * ratio);
    canvas.height = Math.round(panel.height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, panel.width, panel.height);
    pen.font = "11px system-ui, sans-serif";
    return pen;
  }

  function drawQueue(pen, panel) {
    const heights = [];
    for (let x = LEFT; x < panel.width; x += 1) heights.push(waitingAt(panel.run, timeAt(panel, x)));
    const most = Math.max(1, ...heights);
    pen.fillStyle = SOFT;
    heights.forEach((height, at) => {
      const tall = height / most * (QUEUE - 12);
      pen.fillRect(LEFT + at, QUEUE - 6 - tall, 1, tall);
    });
    label(pen, String(most), QUEUE - 6 - (QUEUE - 12) + 4);
    label(pen, "0", QUEUE - 6);
  }

  function label(pen, text, y) {
    pen.fillStyle = SOFT;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.fillText(text, LEFT - 6, y);
  }

  function drawSlot(pen, panel, slot) {
    const { run, byProgress } = panel;
    const rows = run.bySlot[slot];
    const top = QUEUE + slot * rowHeight();
    const tall = Math.max(1, rowHeight() - (rowHeight() > 4 ? 1 : 0));
    const pixel = (axis.end - axis.begin) / (panel.width - LEFT);
    let at = search(rows.length, (index) => run.finish[rows[index]] > axis.begin);
    while (at < rows.length && run.start[rows[at]] < axis.end) {
      const row = rows[at];
      const left = Math.max(LEFT, place(panel, run.start[row]));
      const right = Math.min(panel.width, place(panel, run.finish[row]));
      const wide = Math.max(1, right - left - (right - left > 4 ? 1 : 0));
      pen.fillStyle = byProgress && wide > 3 ? ramp(pen, panel, row) : shade(run.length[row]);
      pen.fillRect(left, top, wide, tall);
      if (panel.chosen === row) {
        pen.strokeStyle = INK;
        pen.lineWidth = 2;
        pen.strokeRect(left, top, wide, tall);
      }
      // requests thinner than a pixel share one: jump to the first that reaches the next pixel
      const next = run.start[row] + pixel;
      at += 1;
      if (at < rows.length && run.finish[rows[at]] < next) {
        at += search(rows.length - at, (ahead) => run.finish[rows[at + ahead]] >= next);
      }
    }
  }

  function ramp(pen, panel, row) {
    const { run } = panel;
    const gradient = pen.createLinearGradient(place(panel, run.start[row]), 0, place(panel, run.finish[row]), 0);
    for (let step = 0; step <= 8; step += 1) {
      gradient.addColorStop(step / 8, shade(run.length[row] * step / 8));
    }
    return gradient;
  }

  function drawViolations(pen, panel) {
    const { violations } = panel.run;
    const top = QUEUE + rowHeight() * content.slots + 2;
    pen.fillStyle = BROKEN;
    const first = search(violations.length, (index) => violations[index][1] > axis.begin);
    let reached = LEFT;
    for (let index = first; index < violations.length && violations[index][0] < axis.end; index += 1) {
      const left = Math.max(reached, place(panel, violations[index][0]));
      const right = Math.max(left + 1, Math.min(panel.width, place(panel, violations[index][1])));
      pen.fillRect(left, top, right - left, 5);
      reached = right;
    }
  }

  function drawAxis(pen, panel) {
    const span = axis.end - axis.begin;
    const rough = span / Math.max(2, Math.floor((panel.width - LEFT) / 110));
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((width) => width >= rough);
    const digits = Math.max(0, -Math.floor(Math.log10(step)));
    pen.fillStyle = SOFT;
    pen.textBaseline = "alphabetic";
    pen.textAlign = "center";
    for (let tick = Math.ceil(axis.begin / step) * step; tick <= axis.end; tick += step) {
      const x = place(panel, tick);
      pen.fillRect(x, panel.height - AXIS, 1, 4);
      const text = tick.toLocaleString("en", { maximumFractionDigits: digits });
      const half = pen.measureText(text).width / 2;
      pen.fillText(text, Math.min(Math.max(x, LEFT + half), panel.width - half), panel.height - 4);
    }
  }

  function draw() {
    for (const panel of panels) {
      panel.figure.hidden = panel.run === undefined;
      if (panel.run === undefined) continue;
      panel.byProgress = find("colour").value === "progress";
      const pen = prepare(panel);
      drawQueue(pen, panel);
      const every = Math.ceil(14 / rowHeight());
      for (let slot = 0; slot < content.slots; slot += 1) {
        drawSlot(pen, panel, slot);
        if (slot % every === 0) label(pen, String(slot), QUEUE + slot * rowHeight() + rowHeight() / 2);
      }
      drawViolations(pen, panel);
      drawAxis(pen, panel);
    }
  }

  // ---- acting -----------------------------------------------------------------------------------

  function show(begin, end) {
    const least = content.end / 1e7;
    const span = Math.min(content.end, Math.max(least, end - begin));
    axis.begin = Math.min(Math.max(0, begin), content.end - span);
    axis.end = axis.begin + span;
    root.dataset.begin = axis.begin;
    root.dataset.end = axis.end;
    requestAnimationFrame(draw);
  }

  function zoom(factor, around = (axis.begin + axis.end) / 2) {
    show(around - (around - axis.begin) * factor, around + (axis.end - around) * factor);
  }

  const pan = (share) => {
    const far = share * (axis.end - axis.begin);
    show(axis.begin + far, axis.end + far);
  };

  function at(panel, event) {
    const box = panel.canvas.getBoundingClientRect();
    const time = timeAt(panel, event.clientX - box.left);
    const slot = Math.floor((event.clientY - box.top - QUEUE) / rowHeight());
    const inside = slot >= 0 && slot < content.slots;
    return { time, row: inside ? running(panel.run, slot, time) : undefined };
  }

  const plain = (value) => value.toLocaleString("en", { maximumFractionDigits: 3 });

  function tell(panel, row, time) {
    panel.chosen = row;
    const { run } = panel;
    if (row === undefined) {
      panel.words.textContent = `at ${plain(time)}: ${plain(waitingAt(run, time))} waiting`;
    } else {
      const known = String(content.ids === null ? row : content.ids[row]);
      const id = known.trim() === "" ? `'${known}'` : known;
      panel.words.textContent = `request ${id}: length ${plain(run.length[row])}, released ${plain(run.release[row])}, ` +
        `started ${plain(run.start[row])}, finished ${plain(run.finish[row])}, ` +
        `waited ${plain(run.start[row] - run.release[row])}; at ${plain(time)} the gap is ${plain(gapAt(run, time))}`;
    }
    requestAnimationFrame(draw);
  }

  /** Choose the next or previous request in the order of admission, and bring it into view. */
  function step(panel, direction) {
    const { run } = panel;
    let index = panel.chosen === undefined
      ? search(run.order.length, (order) => run.start[run.order[order]] >= axis.begin)
      : run.order.indexOf(panel.chosen) + direction;
    index = Math.min(Math.max(index, 0), run.order.length - 1);
    const row = run.order[index];
    const span = axis.end - axis.begin;
    if (run.start[row] < axis.begin || run.start[row] > axis.end) {
      show(run.start[row] - span / 2, run.start[row] + span / 2);
    }
    tell(panel, row, run.start[row]);
  }

  const KEYS = {
    ArrowLeft: () => pan(-0.25),
    ArrowRight: () => pan(0.25),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    Home: () => show(0, axis.end - axis.begin),
    End: () => show(content.end - (axis.end - axis.begin), content.end),
    0: () => show(0, content.end),
    n: (panel) => step(panel, 1),
    p: (panel) => step(panel, -1),
  };

  function listen(panel) {
    const { canvas } = panel;
    let held = null;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, at(panel, event).time);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, begin: axis.begin, end: axis.end };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointermove", (event) => {
      if (held === null) {
        const { row, time } = at(panel, event);
        tell(panel, row, time);
        return;
      }
      const moved = (held.x - event.clientX) / (panel.width - LEFT) * (held.end - held.begin);
      show(held.begin + moved, held.end + moved);
    });
    canvas.addEventListener("keydown", (event) => {
      const act = KEYS[event.key];
      if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act(panel);
    });
  }

  const panels = [...root.querySelectorAll("figure")].map((figure) => ({
    figure, canvas: figure.querySelector("canvas"), words: figure.querySelector("[aria-live]"),
    choice: root.querySelector(`select[data-panel="${figure.dataset.panel}"]`), chosen: undefined,
  }));

  load().then((runs) => {
    const choose = () => {
      for (const panel of panels) {
        panel.run = runs[Number(panel.choice.value)];
        panel.chosen = undefined;
        if (panel.run !== undefined) {
          panel.figure.querySelector("h3").textContent = panel.run.policy;
          panel.canvas.setAttribute("aria-label", `Schedule of ${panel.run.policy}`);
        }
      }
      draw();
    };
    panels.forEach(listen);
    panels.forEach((panel) => panel.choice.addEventListener("change", choose));
    find("colour").addEventListener("change", draw);
    find("in").addEventListener("click", () => zoom(0.5));
    find("out").addEventListener("click", () => zoom(2));
    find("all").addEventListener("click", () => show(0, content.end));
    window.addEventListener("resize", draw);
    show(0, content.first);
    choose();
    root.dataset.ready = "";
  });
})();

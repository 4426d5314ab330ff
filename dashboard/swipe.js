// A divider between two plans on the map, to be dragged, or moved with the arrow keys. Also writes the numbers of
// the districts: of the shown plan to its left, of the other one to its right.
// Arguments: plot, paint (colours the map), frame, beside (the other plan, and what both are called), numbers and
// numbers_beside (where the numbers of their districts go), written (the numbers that are drawn).
const pictures = (window.bottomup_pictures ??= new Map())
if (!pictures.has(plot.id)) {
  pictures.set(plot.id, {of: null, pixels: null, seams: null, split: 0.5})
}
const own = pictures.get(plot.id)
const compares = beside.data.label?.[0] != null && beside.data.label[0].length > 0
const write = () => {
  const at = plot.x_range.start + own.split * (plot.x_range.end - plot.x_range.start)
  const columns = {x: [], y: [], name: []}
  const add = (data, is_in) => {
    for (let i = 0; i < data.x.length; i++) {
      if (is_in(data.x[i])) {
        Object.keys(columns).forEach((name) => columns[name].push(data[name][i]))
      }
    }
  }
  add(numbers.data, (x) => !compares || x < at)
  if (compares) {
    add(numbers_beside.data, (x) => x >= at)
  }
  // In place: what is drawn of them is no business of the server's.
  Object.assign(written.data, columns)
  written.change.emit()
}
const of_range = cb_obj.id == plot.x_range.id || cb_obj.id == plot.id
if (of_range && !compares) {
  return
}
write()
const view = Bokeh.index.find_one(plot)
if (view == null) {
  return
}
const root = view.shadow_el
let divider = root.querySelector(".divider")
if (!compares) {
  divider?.remove()
  return
}
const place = () => {
  const frame_box = view.frame.bbox
  const line = root.querySelector(".divider")
  Object.assign(line.style, {left: `${frame_box.left + own.split * frame_box.width}px`,
                             top: `${frame_box.top}px`, height: `${frame_box.height}px`})
  line.setAttribute("aria-valuenow", Math.round(100 * own.split))
}
const move = (share) => {
  own.split = Math.max(0.02, Math.min(0.98, share))
  place()
  // At most once per frame of the screen.
  own.waiting ??= requestAnimationFrame(() => {
    own.waiting = null
    paint.execute(beside)
    own.write()
  })
}
own.write = write
if (divider == null) {
  divider = document.createElement("div")
  divider.className = "divider"
  divider.tabIndex = 0
  for (const [name, value] of Object.entries({role: "slider", "aria-valuemin": 0, "aria-valuemax": 100,
      "aria-label": "Divider between the two plans", "aria-orientation": "horizontal"})) {
    divider.setAttribute(name, value)
  }
  const style = document.createElement("style")
  style.textContent = `
    .divider { position: absolute; width: 2.25rem; margin-left: -1.125rem; cursor: ew-resize; z-index: 5;
      touch-action: none; outline: none; font: 0.9375rem/1.2 var(--font, sans-serif); }
    .divider::before { content: ""; position: absolute; left: calc(50% - 2px); width: 4px; top: 0; bottom: 0;
      background: #1d2733; box-shadow: 0 0 0 2px #fff; }
    .divider .grip { position: absolute; top: 50%; left: 50%; width: 2rem; height: 2rem; margin: -1rem;
      border-radius: 50%; background: #1d2733; color: #fff; border: 3px solid #fff; box-sizing: border-box;
      display: grid; place-items: center; }
    .divider:focus-visible .grip { outline: 3px solid #1f5c99; outline-offset: 1px; }
    .divider .plan { position: absolute; bottom: 0.25rem; padding: 0.1rem 0.45rem; white-space: nowrap;
      background: #1d2733; color: #fff; border-radius: 4px; pointer-events: none; max-width: 11rem;
      overflow: hidden; text-overflow: ellipsis; }
    .divider .plan.left { right: calc(50% + 0.5rem); }
    .divider .plan.right { left: calc(50% + 0.5rem); }`
  const [grip, ...names] = ["grip", "plan left", "plan right"].map((name) => {
    const part = document.createElement("span")
    part.className = name
    return part
  })
  grip.textContent = "\u21d4"
  divider.append(style, grip, ...names)
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId)
    divider.focus()
    event.preventDefault()
  })
  divider.addEventListener("pointermove", (event) => {
    if (divider.hasPointerCapture(event.pointerId)) {
      const box = view.el.getBoundingClientRect()
      move((event.clientX - box.x - view.frame.bbox.left) / view.frame.bbox.width)
    }
  })
  divider.addEventListener("keydown", (event) => {
    const to = {ArrowLeft: own.split - 0.02, ArrowRight: own.split + 0.02, PageDown: own.split - 0.1,
                PageUp: own.split + 0.1, Home: 0, End: 1}[event.key]
    if (to !== undefined) {
      event.preventDefault()
      event.stopPropagation()
      move(to)
    }
  })
  root.append(divider)
}
const titles = beside.data.titles[0]
divider.querySelector(".left").textContent = titles[0]
divider.querySelector(".right").textContent = titles[1]
divider.setAttribute("aria-valuetext", `left: ${titles[0]}; right: ${titles[1]}`)
place()
if (of_range) {
  move(own.split)
}

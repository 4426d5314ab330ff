// Tells the server which unit a tap or a resting pointer is on, and shows what it says about that unit.
// Arguments: plot, frame (picture of unit numbers), labels and beside (district of each unit, left and right of
// the divider), tapped and rested (what the
// server is told), card (what it says, and for which unit in which district).
const own = (window.bottomup_pictures ??= new Map()).get(plot.id)
const view = Bokeh.index.find_one(plot)
if (own?.pixels == null || view == null) {
  return
}
const root = view.shadow_el
const unit_at = (x, y) => {
  const [height, width] = frame.data.pixels[0].shape
  const column = Math.floor((x - frame.data.x[0]) / frame.data.dw[0] * width)
  const row = Math.floor((y - frame.data.y[0]) / frame.data.dh[0] * height)
  const inside = column >= 0 && column < width && row >= 0 && row < height
  return inside ? own.pixels[row * width + column] - 1 : -1
}
const other = beside.data.label?.[0]
const is_beside = () => other?.length > 0 && own.pointer.sx - view.frame.bbox.left > own.split * view.frame.bbox.width
const district_of = (unit) => (is_beside() ? other : labels.data.district)[unit]
const ask = (unit) => {
  rested.data = {unit: [unit], is_beside: [is_beside()], n: [rested.data.n[0] + 1]}
}
const hide = () => {
  clearTimeout(own.resting)
  own.under = -1
  root.querySelector(".unit-card")?.remove()
}
const show = () => {
  root.querySelector(".unit-card")?.remove()
  const shown = document.createElement("div")
  shown.className = "unit-card"
  shown.style.cssText = `position: absolute; z-index: 6; pointer-events: none; max-width: 17rem; background: #1d2733;
    color: #fff; border-radius: 6px; padding: 0.4rem 0.65rem; font: 0.9375rem/1.3 var(--font, sans-serif);`
  shown.innerHTML = card.data.html[0]
  shown.querySelectorAll("p").forEach((line) => { line.style.margin = "0.1rem 0 0 0" })
  root.append(shown)
  // Beside the pointer, on the side where there is room.
  const {sx, sy} = own.pointer, {width, height} = view.el.getBoundingClientRect()
  const {width: wide, height: high} = shown.getBoundingClientRect()
  shown.style.left = `${Math.max(0, sx + 16 + wide < width ? sx + 16 : sx - 16 - wide)}px`
  shown.style.top = `${Math.max(0, sy + 16 + high < height ? sy + 16 : sy - 16 - high)}px`
}
if (cb_obj.id == card.id) {
  if (own.under >= 0 && own.under == card.data.unit[0]) {
    show()
  }
  return
}
if (cb_obj.id == labels.id) {
  // Another plan: what stands there of the district may be no longer true.
  const unit = own.under
  if (root.querySelector(".unit-card") != null && card.data.of[0] != district_of(unit)) {
    ask(unit)
  }
  return
}
if (cb_obj.event_name == "tap") {
  hide()
  tapped.data = {unit: [unit_at(cb_obj.x, cb_obj.y)], n: [tapped.data.n[0] + 1]}
  return
}
if (cb_obj.event_name != "mousemove") {
  hide()
  return
}
const unit = unit_at(cb_obj.x, cb_obj.y)
own.pointer = {sx: cb_obj.sx, sy: cb_obj.sy}
if (unit == own.under) {
  return
}
hide()
own.under = unit
if (unit >= 0) {
  own.resting = setTimeout(() => {
    if (card.data.unit[0] == unit && card.data.of[0] == district_of(unit)) {
      show()
    } else {
      ask(unit)
    }
  }, 120)
}

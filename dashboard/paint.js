// Colours the picture of unit numbers: one colour per district, or another class of each unit, and lines where
// districts meet. To the right of a divider another plan may be shown. What is pointed at gets an outline.
// Arguments: plot, frame (picture of unit numbers and its place), labels (district of each unit), beside (the
// other plan), tint (another colouring), marked (what is pointed at), painted (the image that is shown),
// acknowledged (how many plans have been painted), fills and borders (colours by district), ink (a colour).
const picture = frame.data.pixels[0]
const district = labels.data.district
if (picture?.shape == null || district == null || district.length == 0) {
  return
}
const [height, width] = picture.shape
const n_units = district.length
const pictures = (window.bottomup_pictures ??= new Map())
if (!pictures.has(plot.id)) {
  pictures.set(plot.id, {of: null, pixels: null, seams: null, split: 0.5})
}
const own = pictures.get(plot.id)
if (own.of !== picture) {
  // Plain arrays, and the pixels at which units meet: found once, they are all that lines can run along.
  const pixels = width * height > 0 ? new (picture instanceof Uint16Array ? Uint16Array : Uint32Array)(picture) : []
  const seams = new Uint32Array(pixels.length)
  let n = 0
  for (let row = 0, here = 0; row < height; row++) {
    for (let column = 0; column < width; column++, here++) {
      const unit = pixels[here]
      if (unit != 0 && ((column + 1 < width && pixels[here + 1] != unit) || (column > 0 && pixels[here - 1] != unit)
          || (row + 1 < height && pixels[here + width] != unit) || (row > 0 && pixels[here - width] != unit))) {
        seams[n++] = here
      }
    }
  }
  Object.assign(own, {of: picture, pixels, seams: seams.slice(0, n)})
}
const {pixels, seams} = own
const of_picture = painted.data.image[0]
let shown = of_picture
if (of_picture.length != width * height || of_picture.shape[1] != width) {
  shown = new of_picture.constructor(new Uint32Array(width * height), [height, width])
  painted.data.image[0] = shown
}
const image = new Uint32Array(shown.buffer, shown.byteOffset, shown.length)

const classes = tint.data.class?.[0]?.length == n_units ? tint.data.class[0] : null
const of_class = classes == null ? [] : tint.data.colors[0]
// What is pointed at, by unit; number 0 lies outside all units.
const units = marked.data.units[0], chosen_district = marked.data.chosen[0], steps_back = marked.data.steps_back[0]
const is_marked = new Uint8Array(n_units + 1)
let n_marked = 0
for (let unit = 0; unit < n_units; unit++) {
  if (chosen_district >= 0 ? district[unit] == chosen_district : units?.[unit]) {
    is_marked[unit + 1] = 1
    n_marked++
  }
}
const fades = steps_back && n_marked > 0
const faded = (color) => ((color & 0xffffff) | 0x40000000) >>> 0
const darker = (color) => {
  const [red, green, blue] = [color & 255, color >>> 8 & 255, color >>> 16 & 255].map((one) => Math.round(one * 0.9))
  return ((color & 0xff000000) | blue << 16 | green << 8 | red) >>> 0
}
const memo = new Map()
const edge_of = (color) => {
  if (!memo.has(color)) {
    memo.set(color, darker(color))
  }
  return memo.get(color)
}
// Colours of a plan by unit number. Outside all units: no district, no colour.
const look = (label) => {
  const plan = {district: new Int32Array(n_units + 1), fill: new Uint32Array(n_units + 1),
                border: new Uint32Array(n_units + 1)}
  plan.district[0] = -1
  for (let unit = 0; unit < n_units; unit++) {
    const number = unit + 1, which = label[unit] % fills.length
    let fill = fills[which], border = borders[which]
    if (classes != null) {
      fill = classes[unit] == 255 ? of_class[of_class.length - 1] : of_class[classes[unit]]
      border = ink
    }
    const back = fades && !is_marked[number]
    plan.district[number] = label[unit]
    plan.fill[number] = back ? faded(fill) : fill
    plan.border[number] = back ? faded(border) : border
  }
  return plan
}
const left = look(district)
const other = beside.data.label?.[0]
const right = other?.length == n_units ? look(other) : null
// The divider stands at a share of the plot's width, whatever part of the map is in sight.
const {x: [from], dw: [across]} = frame.data
const at = plot.x_range.start + own.split * (plot.x_range.end - plot.x_range.start)
const split = right == null ? width : Math.max(0, Math.min(width, Math.round((at - from) / across * width)))
for (let row = 0; row < height; row++) {
  const start = row * width
  for (let here = start; here < start + split; here++) {
    image[here] = left.fill[pixels[here]]
  }
  for (let here = start + split; here < start + width; here++) {
    image[here] = right.fill[pixels[here]]
  }
}
const show_units = frame.data.show_units[0]
const rim = [], lines = []
for (let i = 0; i < seams.length; i++) {
  const here = seams[i]
  const column = here % width
  const {district: of, fill, border} = column < split ? left : right
  const unit = pixels[here]
  const east = column + 1 < width ? pixels[here + 1] : unit
  const west = column > 0 ? pixels[here - 1] : unit
  const north = here + width < pixels.length ? pixels[here + width] : unit
  const south = here >= width ? pixels[here - width] : unit
  const mine = of[unit]
  const meets = (east != 0 && of[east] != mine) || (west != 0 && of[west] != mine)
    || (north != 0 && of[north] != mine) || (south != 0 && of[south] != mine)
  if (meets) {
    image[here] = border[unit]
    if (classes != null && !(fades && !is_marked[unit])) {
      lines.push(here)
    }
  } else if (show_units && (east != unit || north != unit)) {
    image[here] = edge_of(fill[unit])
  }
  if (is_marked[unit] && !(is_marked[east] && is_marked[west] && is_marked[north] && is_marked[south])) {
    rim.push(here)
  }
}
const sharpness = Math.max(1, Math.round(width / plot.inner_width))
const draw = (along, reach, color) => {
  for (const here of along) {
    const row = Math.floor(here / width), column = here % width
    for (let y = Math.max(0, row - reach); y <= Math.min(height - 1, row + reach); y++) {
      image.fill(color, y * width + Math.max(0, column - reach), y * width + Math.min(width, column + reach + 1))
    }
  }
}
// Over other colours than its own a border has to be wider.
draw(lines, sharpness, ink)
// A dark line with a light one on both sides stands out on every colour.
draw(rim, 2 * sharpness, 0xffffffff)
draw(rim, sharpness, ink)
for (const name of ["x", "y", "dw", "dh"]) {
  painted.data[name][0] = frame.data[name][0]
}
// In place and only announced here: the picture is never sent back to the server.
painted.change.emit()
if (cb_obj.id == labels.id) {
  acknowledged.data = {n: [acknowledged.data.n[0] + 1]}
}

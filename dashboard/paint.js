// Colours the picture of unit numbers: one colour per district, darker where two districts meet.
// Arguments: frame (picture of unit numbers and its place), labels (district of each unit),
// painted (the image that is shown), acknowledged (how many plans have been painted), fills, borders, edges (colours).
const pixels = frame.data.pixels[0]
const district = labels.data.district
if (pixels == null || pixels.shape == null || district == null || district.length == 0) {
  return
}
const [height, width] = pixels.shape
const of_picture = painted.data.image[0]
let image = of_picture
if (of_picture.length != width * height || of_picture.shape[1] != width) {
  image = new of_picture.constructor(new Uint32Array(width * height), [height, width])
  painted.data.image[0] = image
}
const n_colors = fills.length
// Number 0 lies outside all units: no district, no colour.
const lookup = new Int32Array(district.length + 1)
lookup[0] = -1
for (let unit = 0; unit < district.length; unit++) {
  lookup[unit + 1] = district[unit]
}
const show_units = frame.data.show_units[0]
for (let row = 0; row < height; row++) {
  const up = row + 1 < height ? width : 0
  const down = row > 0 ? -width : 0
  for (let column = 0; column < width; column++) {
    const here = row * width + column
    const own = lookup[pixels[here]]
    if (own < 0) {
      image[here] = 0
      continue
    }
    const right = column + 1 < width ? here + 1 : here
    const left = column > 0 ? here - 1 : here
    const a = lookup[pixels[right]], b = lookup[pixels[left]]
    const c = lookup[pixels[here + up]], d = lookup[pixels[here + down]]
    const meets = (a >= 0 && a != own) || (b >= 0 && b != own) || (c >= 0 && c != own) || (d >= 0 && d != own)
    if (meets) {
      image[here] = borders[own % n_colors]
    } else if (show_units && (pixels[right] != pixels[here] || pixels[here + up] != pixels[here])) {
      image[here] = edges[own % n_colors]
    } else {
      image[here] = fills[own % n_colors]
    }
  }
}
for (const name of ["x", "y", "dw", "dh"]) {
  painted.data[name][0] = frame.data[name][0]
}
// In place and only announced here: the picture is never sent back to the server.
painted.change.emit()
if (cb_obj.id == labels.id) {
  acknowledged.data = {n: [acknowledged.data.n[0] + 1]}
}

// Keeps the map undistorted and tells the server, once the view rests, which part of it is seen at what size.
// Arguments: plot, view (what the server is told), bounds (left, bottom, right, top of the whole map).
const width = plot.inner_width, height = plot.inner_height
if (!(width > 10 && height > 10)) {
  return
}
const x = plot.x_range, y = plot.y_range
const viewports = (window.bottomup_viewports ??= new Map())
if (!viewports.has(plot.id)) {
  viewports.set(plot.id, {timer: null, width: 0, height: 0, whole: true, adjusting: false})
}
const own = viewports.get(plot.id)
if (own.adjusting) {
  return
}
const fit = Math.max((bounds[2] - bounds[0]) / width, (bounds[3] - bounds[1]) / height)
const resized = width != own.width || height != own.height
if (resized) {
  // The plot has another size: what was in sight stays in sight, and a reset shows the whole map.
  const around = (low, high, half) => [(low + high) / 2 - half, (low + high) / 2 + half]
  const [left, bottom, right, top] = own.whole ? bounds : [x.start, y.start, x.end, y.end]
  const per_pixel = Math.max((right - left) / width, (top - bottom) / height)
  const [start_x, end_x] = around(left, right, per_pixel * width / 2)
  const [start_y, end_y] = around(bottom, top, per_pixel * height / 2)
  const [whole_left, whole_right] = around(bounds[0], bounds[2], fit * width / 2)
  const [whole_bottom, whole_top] = around(bounds[1], bounds[3], fit * height / 2)
  own.width = width
  own.height = height
  own.adjusting = true
  x.setv({start: start_x, end: end_x, reset_start: whole_left, reset_end: whole_right})
  y.setv({start: start_y, end: end_y, reset_start: whole_bottom, reset_end: whole_top})
  own.adjusting = false
} else {
  own.whole = Math.abs((x.end - x.start) / width - fit) < fit * 1e-6
}
clearTimeout(own.timer)
own.timer = setTimeout(() => {
  const sharpness = Math.min(2, Math.max(1, window.devicePixelRatio || 1))
  view.data = {left: [x.start], bottom: [y.start], right: [x.end], top: [y.end],
               width: [Math.round(width * sharpness)], height: [Math.round(height * sharpness)]}
}, resized ? 20 : 250)

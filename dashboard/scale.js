// Scales words and markers of a figure with the font of the page, which grows with the window.
// Argument: plot. The sizes that came from the server are meant for a page font of 16 pixels.
const factor = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
const as_built = (window.bottomup_as_built ??= new Map())
const scaled = (size) => {
  if (typeof size == "number") {
    return size * factor
  }
  if (typeof size == "string") {
    return `${parseFloat(size) * factor}px`
  }
  return size.value == null ? size : {...size, value: scaled(size.value)}
}
const resize = (model, names) => {
  if (!as_built.has(model.id)) {
    as_built.set(model.id, Object.fromEntries(names.map((name) => [name, model[name]])))
  }
  const sizes = Object.entries(as_built.get(model.id)).map(([name, size]) => [name, scaled(size)])
  // How large words are in this window is no business of the server's.
  model.setv(Object.fromEntries(sizes), {sync: false})
}
for (const model of [...plot.left, ...plot.below, ...plot.above, ...plot.center]) {
  if (model.major_label_text_font_size != null) {
    resize(model, ["axis_label_text_font_size", "major_label_text_font_size"])
  } else if (model.type == "Label") {
    resize(model, ["text_font_size", "y_offset"])
  }
}
for (const {glyph} of plot.renderers) {
  if (glyph.type == "Text") {
    resize(glyph, ["text_font_size"])
  } else if (glyph.type == "Scatter") {
    resize(glyph, ["size"])
  }
}
// Words beside a figure that take another line make it lower, and BokehJS then notes its new size without
// always laying it out anew: its axis would lie over the words below.
const view = Bokeh.index.find_one(plot)
const watched = (window.bottomup_watched ??= new WeakSet())
if (view != null && !watched.has(view.el)) {
  watched.add(view.el)
  // A chart that is dragged across must not keep a finger from moving the page up and down.
  if (plot.toolbar.tools.some((tool) => tool.active && tool.dimensions == "width")) {
    view.canvas.touch_action?.replace(".bk-events { touch-action: pan-y pinch-zoom; }")
  }
  new ResizeObserver(() => requestAnimationFrame(() => {
    const laid_out = view.layout?.bbox
    if (laid_out != null && (laid_out.width != view.bbox.width || laid_out.height != view.bbox.height)) {
      view.compute_layout()
    }
  })).observe(view.el)
}

// Tells the server of keys that act on the whole page, wherever the focus is, and marks the document with a mode.
// The model has `watched`, names of keys, and `mode`.
export function render({model, el}) {
  el.style.display = "none"
  const follow = () => { document.documentElement.dataset.mode = model.mode }
  model.on("mode", follow)
  follow()
  const press = (event) => {
    const target = event.composedPath()[0]
    const writes = target.matches?.("input:not([type=range]), textarea, select, [contenteditable]")
    const moves = target.matches?.("[role=slider], [role=tab], [role=radio], input[type=range], [role=option]")
    const arrow = event.key.startsWith("Arrow") || event.key.startsWith("Page")
    const other = event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented
    if (model.watched.includes(event.key) && !other && (event.key === "Escape" || !(writes || (arrow && moves)))) {
      model.send_msg(event.key)
    }
  }
  document.addEventListener("keydown", press)
  model.on("remove", () => document.removeEventListener("keydown", press))
}

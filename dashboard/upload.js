// Sends chosen files to the server in pieces. The next piece goes when the one before has been written, so that
// files may be larger than a message, and neither side holds more than one piece.
const PIECE = 2 * 1024 * 1024

export function render({ model, el }) {
  const input = document.createElement("input")
  const label = document.createElement("label")
  const hint = document.createElement("div")
  const line = document.createElement("div")
  const bar = document.createElement("progress")
  const words = document.createElement("span")
  const drop = document.createElement("button")
  input.type = "file"
  input.id = "files"
  label.htmlFor = "files"
  hint.id = "hint"
  input.setAttribute("aria-describedby", "hint")
  words.setAttribute("role", "status")
  words.className = "words"
  line.className = "line"
  drop.type = "button"
  line.append(bar, words, drop)

  let upload = 0
  let next = null

  const show = () => {
    label.textContent = model.label
    hint.textContent = model.hint
    hint.hidden = !model.hint
    input.multiple = model.multiple
    input.accept = model.accept
    words.textContent = model.words
    words.classList.toggle("wrong", model.is_wrong)
    const busy = next !== null
    bar.hidden = !busy
    bar.setAttribute("aria-label", `${model.label}: sent so far`)
    drop.textContent = busy ? "Cancel" : "Remove"
    drop.setAttribute("aria-label", `${drop.textContent}: ${model.label}`)
    drop.hidden = !busy && !model.is_held
    line.hidden = !busy && !model.words
  }
  for (const name of ["label", "hint", "multiple", "accept", "words", "is_wrong", "is_held"]) {
    model.on(name, show)
  }

  // Cut into pieces on the way: a file is never in memory as a whole.
  function* pieces(files) {
    for (const file of files) {
      for (let start = 0; start < file.size; start += PIECE) yield file.slice(start, start + PIECE)
    }
  }

  const start_anew = () => {
    next = null
    begin()
  }
  const begin = () => {
    const files = [...input.files]
    // Answers to a page that is still loading are lost: what has been chosen waits.
    if (!files.length || !model.is_ready || next !== null) return
    upload += 1
    next = pieces(files)
    bar.max = Math.max(1, files.reduce((total, file) => total + file.size, 0))
    bar.value = 0
    show()
    model.send_msg({ kind: "begin", upload, files: files.map((file) => [file.name, file.size]) })
  }

  const go_on = async () => {
    const mine = upload
    const { value: piece, done } = next.next()
    if (done) return
    try {
      const data = await piece.arrayBuffer()
      if (mine !== upload || next === null) return
      model.send_msg({ kind: "piece", upload, data })
      bar.value += data.byteLength
    } catch (error) {
      // Changed or removed on the disk since it was chosen.
      model.send_msg({ kind: "lost", upload, words: String(error.message ?? error) })
    }
  }

  model.on("msg:custom", (event) => {
    const said = event.data ?? event
    if (said.upload !== upload || next === null) return
    if (said.kind === "next") {
      go_on()
    } else {
      next = null
      if (said.kind === "refused") input.value = ""
      show()
    }
  })

  model.on("is_ready", begin)
  // So that the same file, changed in the meantime, can be chosen again.
  input.addEventListener("click", () => { input.value = "" })
  input.addEventListener("change", start_anew)
  drop.addEventListener("click", () => {
    upload += 1
    next = null
    input.value = ""
    model.send_msg({ kind: "remove", upload })
    show()
    input.focus()
  })

  show()
  const box = document.createElement("div")
  box.className = "upload"
  box.append(label, hint, input, line)
  return box
}

// A table that is sorted and walked through here; only a click or Enter on a row goes to the server.
// The model has `label`, `columns` (field, title, hint, kind), `names` and `notes` (a string for each row),
// `numbers` (by field a number or null for each row; rows with 1 in `mark` stand out), `mark` (what these are
// called), `in_sight` (places of rows), `selected` (a place, or -1) and `sorted_by` (field and whether it descends).
const WORDS = {
  percent: (value) => value === null ? "–" : value >= 100 ? "100" : value.toFixed(1),
  change: (value) => value === null ? "–" : (value < -0.049 ? "−" : value > 0.049 ? "+" : "±") + Math.abs(value).toFixed(1),
  mean: (value) => value === null ? "–" : value.toFixed(1),
  whole: (value) => value === null ? "not on map" : value ? "whole" : "split",
}

export function render({model, el}) {
  const make = (name, parent, attributes = {}) => {
    const made = document.createElement(name)
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
    parent.append(made)
    return made
  }
  const n = model.names.length
  const scroller = make("div", el, {class: "scroller"})
  const table = make("table", scroller, {role: "grid", "aria-label": model.label})
  const head = make("tr", make("thead", table))
  let [field, descends] = model.sorted_by
  const headers = model.columns.map((column) => {
    const cell = make("th", head, {scope: "col", class: column.kind})
    const button = make("button", cell, {type: "button", title: column.hint})
    make("span", button).textContent = column.title
    make("span", button, {class: "arrow", "aria-hidden": "true"})
    button.addEventListener("click", () => {
      descends = field === column.field ? !descends : column.kind !== "name" && column.kind !== "change"
      field = column.field
      scroller.scrollTop = 0
      sort()
    })
    return cell
  })
  const body = make("tbody", table)
  const rows = model.names.map((name, place) => {
    const row = make("tr", body, {tabindex: "-1"})
    row.dataset.place = place
    const cells = model.columns.map((column) => {
      const cell = make("td", row, {class: column.kind})
      if (column.kind === "name") {
        cell.setAttribute("role", "rowheader")
        const note = model.notes[place] ?? ""
        const lines = make("div", cell, {class: "lines", title: note})
        make("span", lines, {class: "id"}).textContent = name
        // So that a screen reader does not join them.
        lines.append(" ")
        make("span", lines, {class: "note"}).textContent = note
        make("div", cell, {class: "mark"})
      }
      return cell
    })
    return {row, cells}
  })

  let order = rows.map((_, place) => place)
  let entry = -1
  const inSight = () => order.filter((place) => !rows[place].row.hidden)
  // One row at a time can be reached with Tab; the arrows go on from there.
  const enter = (place) => {
    if (entry >= 0) rows[entry].row.tabIndex = -1
    entry = place
    if (entry >= 0) rows[entry].row.tabIndex = 0
  }
  const keepEntry = () => {
    if (entry < 0 || rows[entry].row.hidden) enter(inSight()[0] ?? -1)
  }
  const reveal = (place) => {
    const row = rows[place].row
    const top = row.offsetTop - head.offsetHeight
    const bottom = row.offsetTop + row.offsetHeight - scroller.clientHeight
    if (scroller.scrollTop > top) scroller.scrollTop = top
    else if (scroller.scrollTop < bottom) scroller.scrollTop = bottom
  }

  const key = (place) => {
    const column = model.columns.find((one) => one.field === field)
    if (column.kind === "name") return model.names[place]
    const value = model.numbers[field]?.[place] ?? null
    return column.kind === "count" && value !== null ? value / model.numbers.of?.[place] : value
  }
  const collator = new Intl.Collator("en", {numeric: true})
  const sort = () => {
    const keys = rows.map((_, place) => key(place))
    const before = (a, b) => {
      // What is unknown comes last, whichever way the others go.
      if (keys[a] === null || keys[b] === null) return (keys[a] === null) - (keys[b] === null) || a - b
      const way = typeof keys[a] === "string" ? collator.compare(keys[a], keys[b]) : keys[a] - keys[b]
      return (descends ? -way : way) || a - b
    }
    const sorted = rows.map((_, place) => place).sort(before)
    headers.forEach((cell, place) => {
      const own = model.columns[place].field === field
      cell.setAttribute("aria-sort", own ? (descends ? "descending" : "ascending") : "none")
      cell.querySelector(".arrow").textContent = own ? (descends ? "▼" : "▲") : ""
    })
    if (sorted.every((place, position) => place === order[position]) && body.dataset.sorted) return
    body.dataset.sorted = "yes"
    order = sorted
    // A row that moves loses the focus, and the browser may follow it: both are put back.
    const focused = el.getRootNode().activeElement
    const top = scroller.scrollTop
    body.append(...order.map((place) => rows[place].row))
    if (focused && body.contains(focused)) focused.focus({preventScroll: true})
    scroller.scrollTop = top
    keepEntry()
  }

  const fill = () => {
    if (!Object.keys(model.numbers).length) return
    rows.forEach(({row, cells}, place) => {
      model.columns.forEach((column, position) => {
        if (column.kind === "name") return
        const value = model.numbers[column.field]?.[place] ?? null
        const words = column.kind === "count" ? `${value ?? 0} of ${model.numbers.of?.[place]}` : WORDS[column.kind](value)
        if (cells[position].textContent !== words) cells[position].textContent = words
      })
      const mark = model.numbers.mark?.[place] ? model.mark : ""
      const shown = row.querySelector(".mark")
      if (shown.textContent !== mark) shown.textContent = mark
      row.classList.toggle("marked", mark !== "")
    })
    sort()
  }
  const filter = () => {
    const visible = new Set(model.in_sight)
    rows.forEach(({row}, place) => { row.hidden = !visible.has(place) })
    table.setAttribute("aria-rowcount", visible.size + 1)
    keepEntry()
    select()
  }
  // Brought into sight once: afterwards the reader may scroll away from it.
  let revealed = -1
  const select = () => {
    const place = model.selected
    rows.forEach(({row}, own) => row.setAttribute("aria-selected", String(own === place)))
    if (place < 0 || place >= n) revealed = -1
    else if (place !== revealed && !rows[place].row.hidden) {
      revealed = place
      enter(place)
      // A table that is not in sight yet has no heights.
      requestAnimationFrame(() => reveal(place))
    }
  }

  const point = (row) => model.send_msg({row: Number(row.dataset.place)})
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr")
    if (!row || String(el.getRootNode().getSelection?.() ?? "").length) return
    row.focus({preventScroll: true})
    point(row)
  })
  body.addEventListener("focusin", (event) => {
    const row = event.target.closest("tr")
    if (row) enter(Number(row.dataset.place))
  })
  body.addEventListener("keydown", (event) => {
    const row = event.target.closest("tr")
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault()
      point(row)
      return
    }
    const places = inSight()
    const at = places.indexOf(Number(row.dataset.place))
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10, Home: 0, End: places.length - 1}[event.key]
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    const place = places[Math.min(Math.max(to, 0), places.length - 1)]
    rows[place].row.focus({preventScroll: true})
    reveal(place)
  })

  model.on("numbers", fill)
  model.on("in_sight", filter)
  model.on("selected", select)
  filter()
  fill()
}

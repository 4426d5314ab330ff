// The four questions as tabs: each with its short answer, and a mark at the one whose view is open.
// The model has `questions` and `answers` (strings, in the same order), `active` (-1: none), `label`, `opened` (a number
// that grows when a view is opened) and `opens` (the name of the part of the page that it opens in).
export function render({model, el}) {
  const list = document.createElement("div")
  list.setAttribute("role", "tablist")
  list.setAttribute("aria-label", model.label)
  const tabs = model.questions.map((question, place) => {
    const tab = document.createElement("button")
    tab.type = "button"
    tab.setAttribute("role", "tab")
    const [asked, answered] = ["span", "span"].map((name) => document.createElement(name))
    asked.className = "question"
    asked.textContent = question
    answered.className = "answer"
    tab.append(asked, answered)
    tab.addEventListener("click", () => { model.active = place })
    list.append(tab)
    return tab
  })
  const open = (place) => {
    model.active = (place + tabs.length) % tabs.length
    tabs[model.active].focus()
  }
  list.addEventListener("keydown", (event) => {
    const place = tabs.indexOf(event.target)
    const to = {ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1}[event.key]
    if (place >= 0 && to !== undefined) {
      event.preventDefault()
      // The arrows of a hearing's script must not step as well.
      event.stopPropagation()
      open(to)
    }
  })
  const mark = () => tabs.forEach((tab, place) => {
    tab.setAttribute("aria-selected", String(place === model.active))
    tab.tabIndex = place === Math.max(model.active, 0) ? 0 : -1
  })
  const answer = () => tabs.forEach((tab, place) => {
    // A space that is read out between question and answer, and holds the line while there is none.
    tab.lastChild.textContent = model.answers[place] || "\u00a0"
  })
  const show = () => {
    // On a narrow screen what has been opened lies below the map.
    if (matchMedia("(max-width: 1000px)").matches) {
      const models = [...Bokeh.documents[0]._all_models.values()]
      const place = models.find((other) => other.name === model.opens)
      const view = place && Bokeh.index.find_one(place)
      view?.el.scrollIntoView({block: "start", behavior: "smooth"})
    }
  }
  model.on("opened", show)
  model.on("active", mark)
  model.on("answers", answer)
  mark()
  answer()
  el.append(list)
}

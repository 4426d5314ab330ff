// A switch between the light and the dark look, which only this browser remembers.
// The script in the head of the document puts a remembered look into effect before anything is painted.
export function render({model, el}) {
  const root = document.documentElement
  const button = document.createElement("button")
  button.type = "button"
  button.textContent = model.label
  const mark = () => button.setAttribute("aria-pressed", String(root.dataset.theme === "dark"))
  button.addEventListener("click", () => {
    const look = root.dataset.theme === "dark" ? "light" : "dark"
    // The Material components watch this attribute as well.
    root.dataset.theme = look
    try {
      localStorage.setItem(model.remembered_as, look)
    } catch {
      // Where nothing may be kept, the look lasts as long as the page.
    }
    mark()
  })
  mark()
  el.append(button)
}

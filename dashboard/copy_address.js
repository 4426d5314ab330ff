// Shows the address of the page, which follows what is set, and a button that copies it.
export function render({model, el}) {
  const field = document.createElement("input")
  field.readOnly = true
  field.setAttribute("aria-label", "Address of the page as it is now")
  const button = document.createElement("button")
  button.textContent = "Copy the address"
  const said = document.createElement("span")
  said.setAttribute("role", "status")
  const show = () => {
    field.value = window.location.href
    said.textContent = ""
  }
  button.addEventListener("click", async () => {
    show()
    try {
      await navigator.clipboard.writeText(field.value)
      said.textContent = "Copied."
    } catch {
      // Browsers give programs no clipboard on pages of other machines without https.
      field.select()
      said.textContent = "The address is marked: press Ctrl + C, or ⌘ + C."
    }
  })
  show()
  window.addEventListener("bottomup-address", show)
  model.on("remove", () => window.removeEventListener("bottomup-address", show))
  el.classList.add("row")
  el.append(field, button, said)
}

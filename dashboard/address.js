// Writes what is set on the page into its address, without a step in the history. The model has `query`, what is to
// stand there, and `names`, parameters that are the page's own: all others stay, such as the token of a map.
export function render({model, el}) {
  el.style.display = "none"
  const write = () => {
    const isOwn = (part) => {
      const name = decodeURIComponent(part.split("=")[0].replaceAll("+", " "))
      return model.names.includes(name) || name.includes(".")
    }
    const others = window.location.search.slice(1).split("&").filter((part) => part && !isOwn(part))
    const query = [...others, ...(model.query ? [model.query] : [])].join("&")
    const address = `${window.location.pathname}${query ? `?${query}` : ""}${window.location.hash}`
    if (address !== `${window.location.pathname}${window.location.search}${window.location.hash}`) {
      window.history.replaceState(window.history.state, "", address)
      window.dispatchEvent(new Event("bottomup-address"))
    }
  }
  model.on("query", write)
  write()
}

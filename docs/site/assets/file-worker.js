// Browsers don't start workers for pages that were opened as files, and search needs one. For such pages only, this
// runs the worker's script in a hidden frame, with the part of the worker's interface that the theme uses. Messages are
// delivered later, as by a real worker: the theme fails if an answer arrives while it is still sending.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.documentElement.appendChild(this.frame)
      const inner = this.frame.contentWindow
      const page = inner.document
      page.open()
      page.write("<!doctype html><html><head></head><body></body></html>")
      page.close()
      inner.postMessage = data => setTimeout(() => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        if (typeof this.onmessage === "function") this.onmessage(event)
      })
      inner.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => this.load(new URL(source, url).href)), Promise.resolve())
      this.load(new URL(url, location).href).then(() => {
        this.ready = true
        this.waiting.splice(0).forEach(data => this.deliver(data))
      })
    }

    load(source) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script")
        script.src = source
        script.onload = resolve
        script.onerror = reject
        this.frame.contentDocument.head.appendChild(script)
      })
    }

    deliver(data) {
      const inner = this.frame.contentWindow
      setTimeout(() => inner.dispatchEvent(new inner.MessageEvent("message", { data })))
    }

    postMessage(data) {
      this.ready ? this.deliver(data) : this.waiting.push(data)
    }

    terminate() {
      this.frame.remove()
    }
  }
}

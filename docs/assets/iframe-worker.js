/* A page that is opened as a file may not start a worker.  The search then runs in a hidden frame of the page. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.srcdoc = `<script src="${url}"></script>`
      this.ready = new Promise(resolve => {
        frame.addEventListener("load", () => {
          const inside = frame.contentWindow
          inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
          resolve(inside)
        })
      })
      document.body.append(frame)
    }
    postMessage(data) {
      this.ready.then(inside => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }
    terminate() {}
  }
  window.Worker = window.IFrameWorker
}

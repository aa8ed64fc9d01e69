// The address of the console, relative to the page: a tunnel gives this server another port. Read by textual.js.
const terminal = document.getElementById("terminal");
terminal.dataset.sessionWebsocketUrl = new URL("console", location.href).href.replace(/^http/, "ws");

// Keys go to the console without a click first, as soon as textual.js has marked the page as connected.
new MutationObserver((_, observer) => {
  if (document.body.classList.contains("-loaded")) {
    observer.disconnect();
    terminal.querySelector("textarea").focus();
  }
}).observe(document.body, {attributeFilter: ["class"]});
document.getElementById("again").addEventListener("click", () => location.reload());

// The page updates itself: what has changed is fetched and put in place, and focus, scrolling and open parts stay.
"use strict";
(() => {
  const living = document.getElementById("living");
  if (!living || !window.fetch) return;
  const EVERY = 2000;
  const bar = document.getElementById("refresh"), state = document.getElementById("refresh-state");
  const button = document.getElementById("pause"), live = document.getElementById("live");
  let paused = false, timer = 0, said = living.firstElementChild.dataset.said, failed = 0;

  bar.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    state.textContent = paused ? "Paused." : "Updates by itself.";
    if (!paused) soon(0);
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) soon(0); });
  soon(EVERY);

  function soon(wait) {
    clearTimeout(timer);
    timer = setTimeout(update, wait);
  }

  async function update() {
    if (paused || document.hidden) return;
    try {
      const answer = await fetch(living.dataset.from, { credentials: "same-origin", cache: "no-store" });
      if (answer.status === 401 || answer.status === 404) return location.reload();
      if (!answer.ok) throw new Error(String(answer.status));
      const text = await answer.text();
      if (!paused) put(new DOMParser().parseFromString(text, "text/html").getElementById("now"));
      if (failed) state.textContent = "Updates by itself.";
      failed = 0;
    } catch {
      failed += 1;
      state.textContent = "The service does not answer: what you see is old.";
      if (failed === 1) live.textContent = state.textContent;
    }
    soon(EVERY * Math.min(1 + failed, 15));
  }

  // While somebody selects text, that part stays as it is.
  function isSelected(part) {
    const selection = getSelection();
    return selection && !selection.isCollapsed && selection.containsNode(part, true);
  }

  function put(fresh) {
    const old = document.getElementById("now");
    if (!fresh || isSelected(old)) return;
    const active = document.activeElement, focus = old.contains(active) ? place(active) : null;
    const open = [...old.querySelectorAll("details[open][id]")].map(one => one.id);
    const scrolled = [...old.querySelectorAll(".scroll[id], .whole")].filter(one => one.scrollTop || one.scrollLeft)
      .map(one => [place(one), one.scrollTop, one.scrollLeft]);
    for (const id of open) fresh.querySelector("#" + CSS.escape(id))?.setAttribute("open", "");
    if (fresh.innerHTML === old.innerHTML) return;
    old.replaceWith(document.adoptNode(fresh));
    for (const [where, top, left] of scrolled) find(where)?.scrollTo(left, top);
    if (focus) find(focus)?.focus({ preventScroll: true });
    if (fresh.dataset.said !== said) {
      said = fresh.dataset.said;
      live.textContent = said;
    }
  }

  // An element is found again by its id, or by that of what it stands in and its kind.
  function place(one) {
    if (one.id) return { id: one.id };
    const near = one.closest("[id]");
    return { id: near.id, kind: one.tagName };
  }

  function find(where) {
    const near = document.getElementById(where.id);
    return near && where.kind ? near.querySelector(where.kind) : near;
  }
})();

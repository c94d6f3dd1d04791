const controls = {
  trip: ["Trip", (b) => ["Opens ", named(b.name), ` for ${duration(b.openDuration)}: its calls are rejected, or answered by a fallback where there is one.`]],
  reset: ["Reset", (b) => ["Closes ", named(b.name), " and empties its window: its calls go to the dependency at once."]],
};

function makeControls(card) {
  const buttons = Object.entries(controls).map(([action, [word]]) => {
    const button = make("button", { type: "button", "data-action": action });
    say(button, `${word}…`, { tag: "span", text: ` ${card.dataset.name}`, attributes: { class: "unseen" } });
    button.addEventListener("click", () => ask(card, action));
    return button;
  });
  return make("p", { class: "buttons" }, ...buttons);
}

function ask(card, action) {
  const [word, consequence] = controls[action];
  const dialog = byId("confirm");
  say(byId("confirm-title"), `${word} `, named(card.dataset.name), "?");
  say(byId("confirm-text"), ...consequence(card.breaker));
  say(byId("confirm-yes"), word);
  byId("confirm-no").onclick = () => dialog.close();
  byId("confirm-yes").onclick = () => {
    dialog.close();
    order(card, action);
  };
  dialog.showModal();
}

async function order(card, action) {
  const { result } = card.parts;
  setHidden(result, false);
  say(result, `${controls[action][0]}: asking the server…`);
  try {
    const answer = await fetch(action, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ circuitBreaker: card.dataset.name }),
      signal: AbortSignal.timeout(10000),
    });
    const refusal = answer.ok ? "" : (await answer.text()).trim().slice(0, 500) || `the server answered ${answer.status}`;
    say(result, ...(refusal ? [`✕ ${controls[action][0]} was refused: `, quoted(refusal)] : [`✓ ${action === "trip" ? "Tripped" : "Reset"} at `, at(now), "."]));
  } catch (failure) {
    say(result, `✕ ${controls[action][0]}: no answer (${failure.message}); it may or may not have happened.`);
  }
  // A screen reader that is still here reads where the focus goes; the only live region is the headline.
  if (card.contains(document.activeElement)) result.focus();
}

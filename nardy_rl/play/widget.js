// Shows what Python sends (the board's SVG, buttons, log, hints) and reports clicks. It knows no rules.

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function render({ model, el }) {
  const root = element("div", "nardy");
  const board = element("div", "nardy-board");
  const side = element("div", "nardy-side");
  const buttons = element("div", "nardy-buttons");
  const hints = element("div", "nardy-hints");
  const log = element("div", "nardy-log");
  log.setAttribute("role", "log");
  log.setAttribute("aria-live", "polite");
  side.append(buttons, hints, log);
  root.append(board, side);
  el.append(root);

  board.addEventListener("click", (event) => {
    const area = event.target.closest("[data-slot]");
    if (area) model.send({ click: Number(area.dataset.slot) });
  });

  const drawBoard = () => {
    board.innerHTML = model.get("svg");
  };

  const drawState = () => {
    const state = model.get("state");
    root.classList.toggle("nardy-thinking", state.thinking);
    buttons.replaceChildren(
      ...state.buttons.map(({ name, label, enabled }) => {
        const button = element("button", `nardy-button nardy-${name}`, label);
        button.type = "button";
        button.disabled = !enabled || state.thinking;
        button.addEventListener("click", () => model.send({ press: name }));
        return button;
      }),
    );
    if (state.thinking) buttons.append(element("span", "nardy-wait", "thinking …"));
    drawHints(state);
    log.replaceChildren(...state.log.map(({ text, kind }) => element("p", `nardy-${kind}`, text)));
    log.scrollTop = log.scrollHeight;
  };

  const drawHints = ({ hints: table, shown }) => {
    hints.replaceChildren();
    if (!table) return;
    const drawn = element("table");
    const head = drawn.createTHead().insertRow();
    const skip = table.header.indexOf("no.");
    const cells = (row) => row.filter((_, column) => column !== skip);
    cells(table.header).forEach((name) => head.append(element("th", "", name)));
    const play = table.header.indexOf("play");
    const body = drawn.createTBody();
    for (const row of table.rows) {
      const line = body.insertRow();
      line.classList.toggle("nardy-shown", row[play] === shown);
      cells(row).forEach((text) => (line.insertCell().textContent = text));
      line.tabIndex = 0;
      line.title = "show the arrows of this play";
      const show = () => model.send({ show: row[play] });
      line.addEventListener("click", show);
      line.addEventListener("keydown", (event) => event.key === "Enter" && show());
    }
    hints.append(drawn);
  };

  model.on("change:svg", drawBoard);
  model.on("change:state", drawState);
  drawBoard();
  drawState();
  return () => {
    model.off("change:svg", drawBoard);
    model.off("change:state", drawState);
  };
}

export default { render };
